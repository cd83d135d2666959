// ModelAccess: access to the implementation of public classes.
#ifndef MSLITE_API_MODEL_ACCESS_H
#define MSLITE_API_MODEL_ACCESS_H

#include <memory>

#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"

namespace mindspore {
class ModelAccess {
 public:
  // Returns null if memory was exhausted when the model was created.
  static ModelImpl *Of(const Model &model) { return model.impl_.get(); }
  // Returns null before Init.
  static const std::shared_ptr<ModelParallelRunnerImpl> &Of(const ModelParallelRunner &runner) { return runner.impl_; }
};
}  // namespace mindspore

#endif
