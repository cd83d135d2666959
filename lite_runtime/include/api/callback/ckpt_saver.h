#ifndef MINDSPORE_INCLUDE_API_CALLBACK_CKPT_SAVER_H
#define MINDSPORE_INCLUDE_API_CALLBACK_CKPT_SAVER_H

#include <string>

#include "include/api/callback/callback.h"

namespace mindspore {
/// Exports the training model after every n-th epoch as `<prefix>_trained_<epoch>.ms`; epochs are counted from 1. The
/// file contains the optimizer state, so training can continue from it with the same results. If the file cannot be
/// written, an error is logged.
class MS_API CkptSaver : public TrainCallBack {
 public:
  explicit CkptSaver(int save_every_n, const std::string &filename_prefix);
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;

 private:
  int save_every_n_;
  std::string filename_prefix_;
};
}  // namespace mindspore

#endif
