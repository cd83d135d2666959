// A built model: a session and the tensors that the API shows of it.
#ifndef MSLITE_API_MODEL_IMPL_H
#define MSLITE_API_MODEL_IMPL_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/config.h"
#include "api/tensor.h"
#include "exec/session.h"
#include "include/api/context.h"
#include "include/api/types.h"

namespace mindspore {
class ModelImpl {
 public:
  ModelImpl() = default;
  ~ModelImpl();

  Status Build(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context);
  Status Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims);
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after);
  Status Predict(const MSKernelCallBack &before, const MSKernelCallBack &after);
  void PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                    std::function<void(const Status &)> done);

  bool is_built() const { return session_ != nullptr; }
  const mslite::Session *session() const { return session_.get(); }
  const std::vector<MSTensor> &inputs() const { return inputs_; }
  const std::vector<MSTensor> &outputs() const { return outputs_; }
  std::vector<MSTensor> OutputsOfNode(const std::string &node_name) const;

  mslite::ConfigSections config;

 private:
  void ShowOutputs(bool with_data);
  Status ReadInput(size_t index, const MSTensor &tensor, mslite::InputView *view) const;
  void LendOutput(size_t index, const std::vector<MSTensor> *outputs);
  void GiveOutput(size_t index, std::vector<MSTensor> *outputs);
  void WorkAsync();

  std::mutex mutex_;  // one call at a time
  std::unique_ptr<mslite::Session> session_;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::vector<mslite::InputView> views_;

  struct Request {
    std::vector<MSTensor> inputs;
    std::vector<MSTensor> *outputs;
    std::function<void(const Status &)> done;
  };
  std::mutex requests_mutex_;
  std::condition_variable requests_wake_;
  std::deque<Request> requests_;
  bool stopping_ = false;
  std::thread worker_;
};
}  // namespace mindspore

#endif
