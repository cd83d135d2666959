#ifndef MINDSPORE_INCLUDE_API_METRICS_ACCURACY_H
#define MINDSPORE_INCLUDE_API_METRICS_ACCURACY_H

#include <cstdint>
#include <vector>

#include "include/api/metrics/metrics.h"

namespace mindspore {
constexpr int METRICS_CLASSIFICATION = 0;
constexpr int METRICS_MULTILABEL = 1;

/// Computes the accuracy: the fraction of correct predictions. Predictions are float32 [batch, classes]. Labels are
/// int32 [batch] or float32 [batch, classes]. Classification: the class is the index of the largest value in a row.
/// Multilabel: each value above 0.5 is a label. Batches of other types or shapes count as wrong predictions, and an
/// error is logged for the first of them.
class MS_API AccuracyMetrics : public Metrics {
 public:
  explicit AccuracyMetrics(int accuracy_metrics = METRICS_CLASSIFICATION, const std::vector<int> &input_indexes = {1},
                           const std::vector<int> &output_indexes = {0});
  void Clear() override;
  void Update(std::vector<MSTensor *> inputs, std::vector<MSTensor *> outputs) override;
  float Eval() override;

 private:
  int kind_;
  std::vector<int> input_indexes_;
  std::vector<int> output_indexes_;
  int64_t right_ = 0;
  int64_t total_ = 0;
  bool has_failed_ = false;  // the error has been logged
};
}  // namespace mindspore

#endif
