#include "model/load.h"

#include <cstring>

#include "model/encryption_magic.h"
#include "model/loader.h"
#include "model/upgrade/upgrade.h"
#include "model/verify.h"

namespace mslite {
namespace {
constexpr size_t kMinimumSize = 16;

Status VerifyBuffer(const Bytes &file) {
  const auto error = [&file](const std::string &reason) {
    return Fail(mindspore::kLiteGraphFileError, "file '" + file.name() + "': " + reason);
  };
  if (const char *mode = EncryptionOf(file.data(), file.size()); mode != nullptr) {
    return error(std::string("it is encrypted (") + mode + "); give its key");
  }
  if (file.size() < kMinimumSize) return error("too short for a model");
  if (file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return error("larger than 2 GiB; store constants in a .msw file");
  const std::string identifier(reinterpret_cast<const char *>(file.data()) + 4, 4);
  if (identifier != schema::MetaGraphIdentifier()) {
    const std::string version = LegacyVersion(file);
    if (version.empty() && identifier != "MSL1") {
      return error("not a .ms model (no identifier MSL2)");
    }
    return Fail(mindspore::kLiteNotSupport,
                "file '" + file.name() + "': made by " + (version.empty() ? "MindSpore Lite 1.1" : version) +
                    ", whose file format is no longer read; convert the original model again");
  }
  if (!VerifyModel(file.data(), file.size())) return error("damaged: an offset or a size points outside of the file");
  return mindspore::kSuccess;
}
}  // namespace

bool CountElements(const std::vector<int64_t> &dims, int64_t *count) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || (dim != 0 && product > INT64_MAX / dim)) return false;
    product *= dim;
  }
  *count = product;
  return true;
}

Version ParseVersion(const std::string &text) {
  constexpr char kPrefix[] = "MindSpore Lite ";
  Version version;
  if (text.compare(0, sizeof kPrefix - 1, kPrefix) == 0) {
    std::sscanf(text.c_str() + sizeof kPrefix - 1, "%4d.%4d.%4d", &version.major, &version.minor, &version.patch);
  }
  return version;
}

std::string LegacyVersion(const Bytes &file) {
  // The first schema has the version string in slot 1, too. Only this field is verified.
  static constexpr struct {
    Layout layout;
    Field version;
  } kRoot = {{0, 1}, {1, Wire::kText, 0, 0}};
  if (!VerifyTables(file.data(), file.size(), kRoot.layout)) return "";
  const auto *version =
      flatbuffers::GetRoot<flatbuffers::Table>(file.data())->GetPointer<const flatbuffers::String *>(6);
  const std::string text = version == nullptr ? "" : version->str();
  return text.compare(0, 9, "MindSpore") == 0 && text.size() < 64 ? text : "";
}

namespace {
// Verifies the file and initializes the graph and the loader.
Status Begin(std::shared_ptr<const Bytes> file, Graph *graph, Loader *loader) {
  MSLITE_TRY(VerifyBuffer(*file));
  graph->file = std::move(file);
  loader->meta = schema::GetMetaGraph(graph->file->data());
  loader->graph = graph;
  return mindspore::kSuccess;
}

Status LoadParts(std::shared_ptr<const Bytes> file, bool for_training, std::shared_ptr<Graph> *graph) {
  auto result = std::make_shared<Graph>();
  Loader loader;
  MSLITE_TRY(Begin(std::move(file), result.get(), &loader));
  if (const auto *version = loader.meta->version(); version != nullptr)
    result->version_text = CleanText(version->str());
  result->version = ParseVersion(result->version_text);
  const auto *secret = loader.meta->obfMetaData();
  if (loader.meta->obfuscate() || (secret != nullptr && secret->size() != 0)) {
    return loader.Unsupported(
        "the model is obfuscated (obfMetaData), and only a closed library of MindSpore Lite can undo that; use the "
        "model from before the obfuscation");
  }
  MSLITE_TRY(LoadTensors(&loader));
  MSLITE_TRY(LoadNodes(&loader));
  MSLITE_TRY(Upgrade(loader.meta, result.get()));
  MSLITE_TRY(LoadSubGraphs(&loader));
  if (!for_training) PruneToInference(DefaultLossNames(), result.get());
  MSLITE_TRY(CheckOperands(loader));
  MSLITE_TRY(DecodeConstants(&loader));
  *graph = std::move(result);
  return mindspore::kSuccess;
}
}  // namespace

Status Load(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph) {
  return LoadParts(std::move(file), false, graph);
}

Status LoadTraining(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph) {
  return LoadParts(std::move(file), true, graph);
}

Status LoadConstants(std::shared_ptr<const Bytes> file, const std::string &name, std::shared_ptr<Graph> *graph) {
  auto result = std::make_shared<Graph>();
  Loader loader;
  MSLITE_TRY(Begin(std::move(file), result.get(), &loader));
  const auto *nodes = loader.meta->nodes();
  const bool is_named = loader.meta->name() != nullptr && loader.meta->name()->str() == name;
  if (!is_named || (nodes != nullptr && nodes->size() > 0)) return loader.Error("this .ms file is not an " + name);
  MSLITE_TRY(LoadTensors(&loader));
  MSLITE_TRY(DecodeConstants(&loader));
  *graph = std::move(result);
  return mindspore::kSuccess;
}
}  // namespace mslite
