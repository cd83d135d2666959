// A built model: a session and the tensors that the API shows of it.
#ifndef MSLITE_API_MODEL_IMPL_H
#define MSLITE_API_MODEL_IMPL_H

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
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

  // A request of PredictAsync: `done` is called with its status, or the promise gets it.
  struct Request {
    std::vector<MSTensor> inputs;
    std::vector<MSTensor> *outputs = nullptr;
    std::function<void(const Status &)> done;
    std::shared_ptr<std::promise<Status>> promise;

    void Finish(const Status &status);
  };
  // Takes the request, or leaves it as it is and fails or throws.
  Status PredictAsync(Request *request);

  bool is_built() const { return session_ != nullptr; }
  const mslite::Session *session() const { return session_.get(); }
  bool Cancel() { return session_ != nullptr && session_->Cancel(); }
  const std::vector<MSTensor> &inputs() const { return inputs_; }
  const std::vector<MSTensor> &outputs() const { return outputs_; }
  std::vector<MSTensor> OutputsOfNode(const std::string &node_name) const;

  mslite::ConfigSections config;

 private:
  void ShowOutputs(bool with_data);
  Status WithLayoutHint(Status status, const std::vector<mslite::TensorShape> &shapes) const;
  Status ReadInput(size_t index, const MSTensor &tensor, mslite::InputView *view) const;
  void LendOutput(size_t index, const std::vector<MSTensor> *outputs);
  void GiveOutput(size_t index, std::vector<MSTensor> *outputs);

  // The requests that wait. The thread that runs them keeps them when the model goes in one of its own callbacks.
  struct Queue {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Request> requests;
    bool is_closed = false;  // the model goes
    bool is_orphan = false;  // the model is gone
  };
  static void WorkAsync(ModelImpl *model, const std::shared_ptr<Queue> &queue);

  // One call at a time; a callback that calls its own model gets an error, where the lock would never be free.
  class Turn;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  std::unique_ptr<mslite::Session> session_;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::vector<mslite::InputView> views_;

  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::thread worker_;
};
}  // namespace mindspore

#endif
