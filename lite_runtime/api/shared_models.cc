#include "api/shared_models.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "crypto/cipher.h"
#include "model/load.h"
#include "plan/rewrite/adapter_slots.h"
#include "plan/rewrite/bind_shapes.h"
#include "plan/rewrite/obfuscation_ratio.h"
#include "plan/rewrite/rewrite.h"
#include "registry/extensions.h"
#include "registry/registry.h"
#include "threads/process_mutex.h"

namespace mslite {
namespace {
Status FromBytes(std::shared_ptr<const Bytes> bytes, const OpenSettings &settings,
                 std::shared_ptr<SharedModel> *model) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Load(std::move(bytes), &graph));
  if (settings.obfuscation_ratio != 0) MSLITE_TRY(SetObfuscationRatio(settings.obfuscation_ratio, graph.get()));
  if (settings.weights != nullptr) MSLITE_TRY(SetNewWeights(*settings.weights, graph.get()));
  if (settings.adapter != nullptr) MSLITE_TRY(mslite_part_adapters[0].add_slots(*settings.adapter, graph.get()));
  // Delegates get the nodes of the file before rewriting, and may support other types than the CPU.
  if (settings.delegating != nullptr && mslite_delegation[0] != nullptr) {
    if (settings.shapes != nullptr) mslite_part_binding[0](*settings.shapes, graph.get());
    MSLITE_TRY(mslite_delegation[0](settings.delegating, settings.with_engines, graph.get(), settings.delegation));
  }
  const auto is_registered = [](const Node &node) {
    return node.part >= 0 || (node.primitive != nullptr && HasKernels(KeyOf(*node.primitive)));
  };
  MSLITE_TRY(RewriteGraph(graph.get(), is_registered));
  return SharedModel::Create(std::move(graph), model);
}

Status Decrypt(const NamedBytes &file, const Decryption &decryption, std::shared_ptr<const Bytes> *bytes) {
  CipherMode mode = CipherMode::kAesGcm;
  MSLITE_TRY(ParseCipherMode(decryption.mode, &mode));
  if (mode != CipherMode::kAesGcm) {
    return Fail(mindspore::kLiteNotSupport, "decryption mode AES-CBC is not supported for .ms models; use AES-GCM");
  }
  AlignedBuffer text;
  size_t size = 0;
  MSLITE_TRY(DecryptFile(file, decryption.key, mode, decryption.library, &text, &size));
  *bytes = Bytes::Decrypted(std::move(text), size, file.name);
  return mindspore::kSuccess;
}

Status ReadFile(const std::string &path, const OpenSettings &settings, std::shared_ptr<const Bytes> *bytes) {
  std::shared_ptr<const Bytes> file;
  MSLITE_TRY(Bytes::Map(path, &file));
  if (settings.decryption != nullptr) {
    return Decrypt({file->data(), file->size(), path}, *settings.decryption, bytes);
  }
  *bytes = std::move(file);
  return mindspore::kSuccess;
}

// Models by their file and their adapter slots.
using OpenModels = std::map<std::pair<FileIdentity, std::string>, std::weak_ptr<SharedModel>>;

// Returns the existing models. The caller must hold the lock.
OpenModels &LivingModels() {
  static auto *models = new OpenModels;
  for (auto place = models->begin(); place != models->end();) {
    place = place->second.expired() ? models->erase(place) : std::next(place);
  }
  return *models;
}

// Opens the file of `opened` with slots for the adapter of `settings`.
Status WithSlots(const std::shared_ptr<SharedModel> &opened, const OpenSettings &settings,
                 std::shared_ptr<SharedModel> *model) {
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kModels));
  OpenModels &models = LivingModels();
  const auto known =
      std::find_if(models.begin(), models.end(), [&](const auto &entry) { return entry.second.lock() == opened; });
  if (known == models.end()) return FromBytes(opened->graph->file, settings, model);
  std::weak_ptr<SharedModel> &place =
      models[{known->first.first, mslite_part_adapters[0].slots_text(*settings.adapter)}];
  *model = place.lock();
  if (*model != nullptr) return mindspore::kSuccess;
  MSLITE_TRY(FromBytes(opened->graph->file, settings, model));
  place = *model;
  return mindspore::kSuccess;
}
}  // namespace

bool Identify(const std::string &path, FileIdentity *identity) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return false;
  *identity = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return true;
}

Status OpenModel(const std::string &path, const OpenSettings &settings, std::shared_ptr<SharedModel> *model) {
  if (settings.decryption != nullptr || settings.obfuscation_ratio != 0 || settings.delegating != nullptr) {
    std::shared_ptr<const Bytes> bytes;
    MSLITE_TRY(ReadFile(path, settings, &bytes));
    return FromBytes(std::move(bytes), settings, model);
  }
  FileIdentity identity;
  const bool is_identified = Identify(path, &identity);
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kModels));
  OpenModels &models = LivingModels();
  if (is_identified) {
    const auto place = models.find({identity, ""});
    // The path of a side file depends on the path of the model. If the path differs, the model is loaded again.
    if (place != models.end()) *model = place->second.lock();
    if (*model != nullptr && ((*model)->graph->side_files.empty() || (*model)->graph->file->name() == path)) {
      return mindspore::kSuccess;
    }
    model->reset();
  }
  std::shared_ptr<const Bytes> bytes;
  MSLITE_TRY(Bytes::Map(path, &bytes));
  MSLITE_TRY(FromBytes(std::move(bytes), settings, model));
  if (is_identified) models[{identity, ""}] = *model;
  return mindspore::kSuccess;
}

Status OpenModel(const void *data, size_t size, const OpenSettings &settings, std::shared_ptr<SharedModel> *model) {
  if (data == nullptr || size == 0) return Fail(mindspore::kLiteNullptr, "the model data is null or empty");
  std::shared_ptr<const Bytes> bytes;
  if (settings.decryption == nullptr) {
    MSLITE_TRY(Bytes::Copy(data, size, &bytes));
  } else {
    const std::string name = "<buffer>";
    MSLITE_TRY(Decrypt({static_cast<const uint8_t *>(data), size, name}, *settings.decryption, &bytes));
  }
  return FromBytes(std::move(bytes), settings, model);
}

Status OpenModel(std::shared_ptr<SharedModel> opened, const OpenSettings &settings,
                 std::shared_ptr<SharedModel> *model) {
  if (settings.obfuscation_ratio != 0 || settings.weights != nullptr || settings.delegating != nullptr) {
    return FromBytes(opened->graph->file, settings, model);
  }
  if (settings.adapter != nullptr) return WithSlots(opened, settings, model);
  *model = std::move(opened);
  return mindspore::kSuccess;
}
}  // namespace mslite
