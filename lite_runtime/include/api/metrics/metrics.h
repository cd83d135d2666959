/// What is computed of the results of an evaluation. These classes are in libmindspore-lite-train.
#ifndef MINDSPORE_INCLUDE_API_METRICS_METRICS_H
#define MINDSPORE_INCLUDE_API_METRICS_METRICS_H

#include <vector>

#include "include/api/model.h"

namespace mindspore {
class MS_API Metrics {
 public:
  virtual ~Metrics();
  /// Before the first batch.
  virtual void Clear() {}
  /// After each batch, with all inputs and outputs of the model.
  virtual void Update(std::vector<MSTensor *> /*inputs*/, std::vector<MSTensor *> /*outputs*/) {}
  /// The result.
  virtual float Eval() { return 0.0f; }
};
}  // namespace mindspore

#endif
