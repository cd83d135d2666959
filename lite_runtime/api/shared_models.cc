#include "api/shared_models.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <tuple>

#include "model/load.h"
#include "plan/rewrite/rewrite.h"
#include "registry/registry.h"

namespace mslite {
namespace {
// Device, inode, size and time of the last change.
using FileIdentity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;

bool Identify(const std::string &path, FileIdentity *identity) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return false;
  *identity = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return true;
}

Status FromBytes(std::shared_ptr<const Bytes> bytes, std::shared_ptr<SharedModel> *model) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Load(std::move(bytes), &graph));
  // Kernels of others get what the file says, and may take the types that ours do not.
  const auto is_registered = [](const Node &node) {
    return node.primitive != nullptr && HasKernels(KeyOf(*node.primitive));
  };
  MSLITE_TRY(RewriteGraph(graph.get(), is_registered));
  return SharedModel::Create(std::move(graph), model);
}
}  // namespace

Status OpenModel(const std::string &path, std::shared_ptr<SharedModel> *model) {
  static std::mutex mutex;
  static auto *models = new std::map<FileIdentity, std::weak_ptr<SharedModel>>;
  FileIdentity identity;
  const bool is_identified = Identify(path, &identity);
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto place = models->begin(); place != models->end();) {
    place = place->second.expired() ? models->erase(place) : std::next(place);
  }
  if (is_identified) {
    const auto place = models->find(identity);
    // A model with a side file is found under another path only if it lies beside it: load it anew.
    if (place != models->end()) *model = place->second.lock();
    if (*model != nullptr && ((*model)->graph->side_files.empty() || (*model)->graph->file->name() == path)) {
      return mindspore::kSuccess;
    }
    model->reset();
  }
  std::shared_ptr<const Bytes> bytes;
  MSLITE_TRY(Bytes::Map(path, &bytes));
  MSLITE_TRY(FromBytes(std::move(bytes), model));
  if (is_identified) (*models)[identity] = *model;
  return mindspore::kSuccess;
}

Status OpenModel(const void *data, size_t size, std::shared_ptr<SharedModel> *model) {
  if (data == nullptr || size == 0) return Fail(mindspore::kLiteNullptr, "the model data is null or empty");
  std::shared_ptr<const Bytes> bytes;
  MSLITE_TRY(Bytes::Copy(data, size, &bytes));
  return FromBytes(std::move(bytes), model);
}
}  // namespace mslite
