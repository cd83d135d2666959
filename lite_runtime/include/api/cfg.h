/// Configuration of training.
#ifndef MINDSPORE_INCLUDE_API_CFG_H
#define MINDSPORE_INCLUDE_API_CFG_H

#include <string>
#include <vector>

#include "include/api/types.h"

namespace mindspore {
struct MixPrecisionCfg {
  bool dynamic_loss_scale_ = false;
  float loss_scale_ = 128.0f;
  bool keep_batchnorm_fp32_ = true;
  unsigned int num_of_not_nan_iter_th_ = 1000;
  bool is_raw_mix_precision_ = false;
};

class TrainCfg {
 public:
  std::vector<std::string> GetLossName() const { return loss_name_; }
  void SetLossName(const std::vector<std::string> &loss_name) { loss_name_ = std::vector<std::string>(loss_name); }

  OptimizationLevel optimization_level_ = kO0;
  MixPrecisionCfg mix_precision_cfg_;
  bool accumulate_gradients_ = false;
  /// If false, the memory of each gradient is reused after its weight has been updated, and Model::GetGradients returns
  /// nothing unless gradients are accumulated over several steps. Losses and weights are bit-identical. mslite
  /// extension.
  bool keep_gradients_ = true;

 private:
  std::vector<std::string> loss_name_ = {"loss_fct", "_loss_fn", "SigmoidCrossEntropy"};
};
}  // namespace mindspore

#endif
