// Training in mixed precision: which nodes stay float32, and the loss scale that keeps small gradients within float16.
#ifndef MSLITE_TRAINING_MIXED_PRECISION_H
#define MSLITE_TRAINING_MIXED_PRECISION_H

#include <memory>
#include <string>
#include <vector>

#include "exec/session.h"
#include "include/api/cfg.h"
#include "training/training_graph.h"

namespace mslite {
// Errors: kLiteParamInvalid for an unknown level, or a loss scale that is not positive.
Status CheckMixedPrecision(const mindspore::TrainCfg &config);

// Returns whether steps are computed in mixed precision. For kAuto: if the device computes in float16 and is set to.
bool IsMixed(const mindspore::TrainCfg &config, bool prefers_half);

// Returns the nodes that always stay float32: losses, optimizers, and below kO3 batch normalization.
std::shared_ptr<const NodeTypes> FloatNodes(const Graph &graph, const std::vector<std::string> &loss_names,
                                            mindspore::OptimizationLevel level);

// IsMultiplyAccumulate the gradients of the losses by a variable at the start of the backward pass, and so all
// gradients; the losses do not change. Errors: kLiteGraphFileError if no gradient comes from a loss.
Status ScaleLoss(const std::vector<std::string> &loss_names, const std::string &variable, TrainingGraph *training);

// The loss scale, updated after each step.
class LossScale {
 public:
  explicit LossScale(const mindspore::MixPrecisionCfg &config) : config_(config), value_(config.loss_scale_) {}

  float value() const { return value_; }
  // Updates the scale after a step: `are_finite` is whether its gradients were. A dynamic scale is halved if they were
  // not, to no less than 1, and doubled after the configured number of successful steps in a row, to no more than
  // 65536.
  void Follow(bool are_finite);

 private:
  mindspore::MixPrecisionCfg config_;
  float value_;
  unsigned int good_ = 0;
};
}  // namespace mslite

#endif
