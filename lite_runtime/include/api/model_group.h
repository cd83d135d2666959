/// Models that share memory because they run one after the other.
#ifndef MINDSPORE_INCLUDE_API_MODEL_GROUP_H
#define MINDSPORE_INCLUDE_API_MODEL_GROUP_H

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore {
class ModelGroupImpl;

/// Models of a group that shares its workspace have one arena for intermediate values and so take turns: each Predict
/// waits for the others. Constants and packed weights are shared by all models that are built from the same unchanged
/// file, in a group or not. Outputs are never shared.
class MS_API ModelGroup {
 public:
  explicit ModelGroup(ModelGroupFlag flags = ModelGroupFlag::kShareWorkspace);
  ~ModelGroup();

  /// Files whose models, built while the group lives, belong to it. Errors: kLiteParamInvalid without files,
  /// kLiteFileError for one that cannot be read.
  Status AddModel(const std::vector<std::string> &model_path_list);
  /// Models in memory, of which CalMaxSizeOfWorkspace learns the size. Errors: kLiteParamInvalid for an empty one.
  Status AddModel(const std::vector<std::pair<const void *, size_t>> &model_buff_list);
  /// Models that are not built yet. Errors: kLiteModelRebuild for one that is built.
  Status AddModel(const std::vector<Model> &model_list);

  /// Plans the files and buffers of the group and reserves the largest arena among them. Errors: those of Model::Build.
  Status CalMaxSizeOfWorkspace(ModelType model_type, const std::shared_ptr<Context> &context);

 private:
  std::shared_ptr<ModelGroupImpl> impl_;
};
}  // namespace mindspore

#endif
