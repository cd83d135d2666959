// ModelImpl: the implementation of Model, with a session and the tensors of the API.
#ifndef MSLITE_API_MODEL_IMPL_H
#define MSLITE_API_MODEL_IMPL_H

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/config.h"
#include "api/request_queue.h"
#include "api/tensor.h"
#include "api/trainer.h"
#include "exec/session.h"
#include "include/api/context.h"
#include "include/api/types.h"
#include "model/adapter.h"
#include "registry/delegation.h"

namespace mindspore {
class ModelImpl {
 public:
  ModelImpl() = default;
  ~ModelImpl() { requests_.Close(); }

  // Builds the model. `delegation`: the partitions of the context's delegates; null without delegates.
  Status Build(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context,
               std::shared_ptr<const mslite::Delegation> delegation = nullptr);
  // Builds the model for training. It starts in evaluation mode.
  Status BuildTraining(const mslite::SharedModel &model, const mslite::SharedModel *backbone,
                       const std::shared_ptr<Context> &context, const TrainCfg &config);
  // Calls a function of the trainer, and then updates the session and the output tensors. `what` is the name of the API
  // function, for messages. Errors: kLiteUninitializedObj if the model is not built; kLiteNotSupport if it is not built
  // for training.
  MSLITE_INTERNAL_API Status WithTrainer(const char *what, const std::function<Status(mslite::Trainer *)> &call);
  // Calls a const function of the trainer. Allocates no memory itself. Errors: those of WithTrainer.
  Status QueryTrainer(const char *what, const std::function<Status(const mslite::Trainer &)> &question);
  // Returns null if the model is not built for training.
  const mslite::Trainer *trainer() const { return trainer_.get(); }
  // Builds the model again from the same bytes, with these constants and those of earlier calls, for the current
  // shapes.
  Status UpdateWeights(const std::vector<MSTensor> &weights);
  // Loads an adapter. Builds the model again if it has no slots for the adapter yet.
  Status LoadAdapter(const std::string &path);
  // Sets the adapter slots to values without an effect.
  Status UnloadAdapter();
  Status Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims);
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after) {
    return Predict(inputs, outputs, before, after, nullptr);
  }
  Status Predict(const MSKernelCallBack &before, const MSKernelCallBack &after);

  // `request` is the asynchronous request of this run, which may be canceled; or null.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after, mslite::Request *request);
  // The requests of PredictAsync.
  mslite::RequestQueue &requests() { return requests_; }

  bool is_built() const { return session_ != nullptr; }
  const mslite::Session *session() const { return session_.get(); }
  // Returns null if the context has no delegate.
  const mslite::Delegation *delegation() const { return delegation_.get(); }
  bool Cancel() {
    const std::shared_ptr<mslite::Session> session = std::atomic_load(&session_);
    return session != nullptr && session->Cancel();
  }
  const std::vector<MSTensor> &inputs() const { return inputs_; }
  const std::vector<MSTensor> &outputs() const { return outputs_; }
  std::vector<MSTensor> OutputsOfNode(const std::string &node_name) const;

  mslite::ConfigSections config;
  std::shared_ptr<mslite::Workspace> workspace;  // of the model's group; null without one
  float obfuscation_ratio = 0;                   // the ratio that the model was opened with
  // Called with the output tensors of another mode before the model switches to it. May be null. If it throws, the mode
  // does not change.
  std::function<void(const std::vector<MSTensor> &)> prepare_outputs;

 private:
  using Constants = std::map<std::string, MSTensor>;

  Status ReadOptions(const mslite::Graph &graph, const std::shared_ptr<Context> &context,
                     const std::shared_ptr<const mslite::Delegation> &delegation,
                     mslite::SessionOptions *options) const;
  Status CheckTrainer(const char *what) const;
  void UpdateFromTrainer();
  Status Reopen(const std::shared_ptr<mslite::SharedModel> &model, const Constants &constants,
                const std::shared_ptr<const mslite::Adapter> &slots, const mslite::Adapter *adapter,
                const std::vector<mslite::TensorShape> &shapes);
  bool NeedsReoffer(const std::vector<mslite::TensorShape> &shapes) const;
  Status ReofferNodes(const std::vector<mslite::TensorShape> &shapes);
  Status RunSession(const std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                    const MSKernelCallBack &after);
  void ShowOutputs(bool with_data);
  void HideOutputs();
  Status InputShapes(std::vector<mslite::TensorShape> *shapes) const;
  Status WithLayoutHint(Status status, const std::vector<mslite::TensorShape> &shapes) const;
  Status ReadInput(size_t index, const MSTensor &tensor, mslite::InputView *view) const;
  Status BindOutputMemory(size_t index, const std::vector<MSTensor> *outputs);
  void ReturnOutput(size_t index, std::vector<MSTensor> *outputs);

  // Allows one call at a time. If a callback calls its own model, it returns an error instead of a deadlock.
  class Turn;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  std::shared_ptr<Context> context_;
  std::shared_ptr<mslite::Session> session_;  // loaded atomically by threads that cancel a run
  std::unique_ptr<mslite::Trainer> trainer_;
  Constants new_weights_;
  std::shared_ptr<const mslite::Adapter> slots_;    // the adapter that defined the slots of the session, or null
  std::shared_ptr<const mslite::Adapter> adapter_;  // the loaded adapter, or null
  std::shared_ptr<const mslite::Delegation> delegation_;
  std::vector<mslite::TensorShape> offered_shapes_;  // the input shapes for which nodes were offered to delegates
  bool with_engines_ = true;                         // false after a backend has failed
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::vector<mslite::InputView> views_;

  mslite::RequestQueue requests_{[this](mslite::Request *request) {
                                   return Predict(request->inputs, request->outputs, nullptr, nullptr, request);
                                 },
                                 1};
};
}  // namespace mindspore

#endif
