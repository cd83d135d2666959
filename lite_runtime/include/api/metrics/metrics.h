/// Metrics of an evaluation. These classes are in libmindspore-lite-train.
#ifndef MINDSPORE_INCLUDE_API_METRICS_METRICS_H
#define MINDSPORE_INCLUDE_API_METRICS_METRICS_H

#include <vector>

#include "include/api/model.h"

namespace mindspore {
class MS_API Metrics {
 public:
  virtual ~Metrics();
  /// Called before the first batch.
  virtual void Clear() {}
  /// Called after each batch, with all inputs and outputs of the model.
  virtual void Update(std::vector<MSTensor *> /*inputs*/, std::vector<MSTensor *> /*outputs*/) {}
  /// Returns the value of the metric over all batches.
  virtual float Eval() { return 0.0f; }
};
}  // namespace mindspore

#endif
