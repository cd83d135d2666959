/// ModelGroup: models that share memory and run one after the other.
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

/// A group of models. With kShareWorkspace, its models share one arena for activations, so they run one after the
/// other: each Predict waits for the others. All models that are built from the same unchanged file share constants and
/// packed weights, also outside a group. Outputs are never shared.
class MS_API ModelGroup {
 public:
  explicit ModelGroup(ModelGroupFlag flags = ModelGroupFlag::kShareWorkspace);
  ~ModelGroup();

  /// Adds model files. Models that are built from them while the group exists belong to the group. Errors:
  /// kLiteParamInvalid for an empty list; kLiteFileError for a file that cannot be read.
  Status AddModel(const std::vector<std::string> &model_path_list);
  /// Adds models in memory, which CalMaxSizeOfWorkspace takes into account. Errors: kLiteParamInvalid for an empty
  /// buffer.
  Status AddModel(const std::vector<std::pair<const void *, size_t>> &model_buff_list);
  /// Adds models before they are built. Errors: kLiteModelRebuild for a model that is already built.
  Status AddModel(const std::vector<Model> &model_list);

  /// Plans the files and buffers of the group, and allocates the largest of their arenas. Errors: those of
  /// Model::Build.
  Status CalMaxSizeOfWorkspace(ModelType model_type, const std::shared_ptr<Context> &context);

 private:
  std::shared_ptr<ModelGroupImpl> impl_;
};
}  // namespace mindspore

#endif
