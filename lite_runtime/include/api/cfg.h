/// How a model is trained.
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
  /// false: each gradient gives up its memory when its weight has been updated, and GetGradients has none to show after
  /// a plain step. Losses and weights are the same bits. Beyond MindSpore Lite.
  bool keep_gradients_ = true;

 private:
  std::vector<std::string> loss_name_ = {"loss_fct", "_loss_fn", "SigmoidCrossEntropy"};
};
}  // namespace mindspore

#endif
