// The ways from public classes to what the functions of mslite need of them.
#ifndef MSLITE_API_MODEL_ACCESS_H
#define MSLITE_API_MODEL_ACCESS_H

#include <memory>

#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"

namespace mindspore {
class ModelAccess {
 public:
  // Null when there was no memory for it.
  static ModelImpl *Of(const Model &model) { return model.impl_.get(); }
  // Null before Init.
  static const std::shared_ptr<ModelParallelRunnerImpl> &Of(const ModelParallelRunner &runner) { return runner.impl_; }
};
}  // namespace mindspore

#endif
