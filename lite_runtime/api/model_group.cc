#include "include/api/model_group.h"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <mutex>

#include "api/log.h"
#include "api/model_group_impl.h"
#include "api/model_impl.h"
#include "api/shared_models.h"
#include "plan/plan.h"
#include "threads/process_mutex.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::Guard;
using mslite::Logged;

using Workspaces = std::map<mslite::FileIdentity, std::weak_ptr<mslite::Workspace>>;

// Returns the workspaces of the files of all existing groups. The caller must hold the mutex LockId::kGroups.
Workspaces &GroupedFiles() {
  static auto *files = new Workspaces;
  return *files;
}

bool SharesWorkspace(ModelGroupFlag flags) {
  return flags == ModelGroupFlag::kShareWorkspace || flags == ModelGroupFlag::kShareWeightAndWorkspace;
}
}  // namespace

class ModelGroupImpl {
 public:
  explicit ModelGroupImpl(ModelGroupFlag group_flags) : flags(group_flags) {}

  // Reserves the arena of a model, as far as its shapes are known.
  Status Measure(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context) {
    ModelImpl planned;
    MSLITE_TRY(planned.Build(std::move(model), context));
    uint64_t bytes = 0;
    for (const mslite::Plan *plan : planned.session()->LatestPlans()) {
      bytes = std::max(bytes, static_cast<uint64_t>(plan->arena_bytes));
    }
    const std::lock_guard<std::mutex> lock(workspace->turn);
    if (bytes > 0 && workspace->memory.Reserve(bytes) == nullptr) {
      return Fail(kLiteMemoryFailed, mslite::Format("no memory for a workspace of %" PRIu64 " bytes", bytes));
    }
    return kSuccess;
  }

  const ModelGroupFlag flags;
  const std::shared_ptr<mslite::Workspace> workspace = std::make_shared<mslite::Workspace>();
  std::vector<std::string> paths;
  std::vector<std::pair<const void *, size_t>> buffers;
};

ModelGroup::ModelGroup(ModelGroupFlag flags)
    : impl_(mslite::CallOrDefault([flags] { return std::make_shared<ModelGroupImpl>(flags); })) {}
ModelGroup::~ModelGroup() = default;

Status ModelGroup::AddModel(const std::vector<std::string> &model_path_list) {
  if (impl_ == nullptr) return mslite::OutOfMemory();
  return Logged(Guard([&]() -> Status {
    if (model_path_list.empty()) return Fail(kLiteParamInvalid, "AddModel: the list of models is empty");
    std::vector<mslite::FileIdentity> identities(model_path_list.size());
    for (size_t i = 0; i < identities.size(); ++i) {
      if (!mslite::Identify(model_path_list[i], &identities[i])) {
        return Fail(kLiteFileError, "model file '" + model_path_list[i] + "' does not exist");
      }
    }
    impl_->paths.insert(impl_->paths.end(), model_path_list.begin(), model_path_list.end());
    if (!SharesWorkspace(impl_->flags)) return kSuccess;
    const std::lock_guard<std::mutex> lock(mslite::ProcessMutex(mslite::LockId::kGroups));
    Workspaces &files = GroupedFiles();
    for (auto place = files.begin(); place != files.end();) {
      place = place->second.expired() ? files.erase(place) : std::next(place);
    }
    for (const mslite::FileIdentity &identity : identities) files[identity] = impl_->workspace;
    return kSuccess;
  }));
}

Status ModelGroup::AddModel(const std::vector<std::pair<const void *, size_t>> &model_buff_list) {
  if (impl_ == nullptr) return mslite::OutOfMemory();
  return Logged(Guard([&]() -> Status {
    const bool is_empty = std::any_of(model_buff_list.begin(), model_buff_list.end(),
                                      [](const auto &buffer) { return buffer.first == nullptr || buffer.second == 0; });
    if (model_buff_list.empty() || is_empty) {
      return Fail(kLiteParamInvalid, "AddModel: the list of models or a buffer is empty");
    }
    impl_->buffers.insert(impl_->buffers.end(), model_buff_list.begin(), model_buff_list.end());
    return kSuccess;
  }));
}

Status ModelGroup::AddModel(const std::vector<Model> &model_list) {
  if (impl_ == nullptr) return mslite::OutOfMemory();
  return Logged(Guard([&]() -> Status {
    if (model_list.empty()) return Fail(kLiteParamInvalid, "AddModel: the list of models is empty");
    for (const Model &model : model_list) {
      if (model.impl_ == nullptr) return mslite::OutOfMemory();
      if (model.impl_->is_built()) {
        return Fail(kLiteModelRebuild, "AddModel: a model is already built; add it to the group before Build");
      }
    }
    if (!SharesWorkspace(impl_->flags)) return kSuccess;
    for (const Model &model : model_list) model.impl_->workspace = impl_->workspace;
    return kSuccess;
  }));
}

Status ModelGroup::CalMaxSizeOfWorkspace(ModelType model_type, const std::shared_ptr<Context> &context) {
  if (impl_ == nullptr) return mslite::OutOfMemory();
  return Logged(Guard([&]() -> Status {
    if (!Model::CheckModelSupport(kCPU, model_type)) {
      return Fail(kLiteNotSupport, "only .ms models (kMindIR_Lite or kMindIR) are supported");
    }
    if (!SharesWorkspace(impl_->flags)) return Fail(kLiteNotSupport, "the group does not share its workspace");
    for (const std::string &path : impl_->paths) {
      std::shared_ptr<mslite::SharedModel> model;
      MSLITE_TRY(mslite::OpenModel(path, {}, &model));
      MSLITE_TRY(impl_->Measure(std::move(model), context));
    }
    for (const auto &[data, size] : impl_->buffers) {
      std::shared_ptr<mslite::SharedModel> model;
      MSLITE_TRY(mslite::OpenModel(data, size, {}, &model));
      MSLITE_TRY(impl_->Measure(std::move(model), context));
    }
    return kSuccess;
  }));
}
}  // namespace mindspore

namespace mslite {
std::shared_ptr<Workspace> GroupWorkspace(const std::string &path) {
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kGroups));
  auto &files = mindspore::GroupedFiles();
  FileIdentity identity;
  if (files.empty() || !Identify(path, &identity)) return nullptr;
  const auto place = files.find(identity);
  return place == files.end() ? nullptr : place->second.lock();
}
}  // namespace mslite
