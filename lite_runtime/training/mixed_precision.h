// Training in mixed precision: which nodes stay float32, and the scale that keeps small gradients within float16.
#ifndef MSLITE_TRAINING_MIXED_PRECISION_H
#define MSLITE_TRAINING_MIXED_PRECISION_H

#include <memory>
#include <string>
#include <vector>

#include "exec/session.h"
#include "include/api/cfg.h"
#include "training/training_graph.h"

namespace mslite {
// Errors: kLiteParamInvalid for a level that there is not, or a loss scale that is no positive number.
Status CheckMixedPrecision(const mindspore::TrainCfg &config);

// Whether steps are computed in mixed precision. kAuto: where the device computes in float16, and is asked to.
bool IsMixed(const mindspore::TrainCfg &config, bool prefers_half);

// The nodes that stay float32 whatever they compute: losses, optimizers, and below kO3 batch normalization.
std::shared_ptr<const NodeTypes> FloatNodes(const Graph &graph, const std::vector<std::string> &loss_names,
                                            mindspore::OptimizationLevel level);

// Multiplies what losses give to the backward pass by a variable, and with it all gradients; the losses stay. Errors:
// kLiteGraphFileError where no gradient comes from a loss.
Status ScaleLoss(const std::vector<std::string> &loss_names, const std::string &variable, TrainingGraph *training);

// The factor of the loss from step to step.
class LossScale {
 public:
  explicit LossScale(const mindspore::MixPrecisionCfg &config) : config_(config), value_(config.loss_scale_) {}

  float value() const { return value_; }
  // After a step: whether its gradients were finite. A dynamic scale is halved where they were not, to 1 at the least,
  // and doubled after as many good steps in a row as the configuration says, to 65536 at most.
  void Follow(bool are_finite);

 private:
  mindspore::MixPrecisionCfg config_;
  float value_;
  unsigned int good_ = 0;
};
}  // namespace mslite

#endif
