// A built model: a session and the tensors that the API shows of it.
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

  // `delegation`: what the context's delegates have taken of the model, null where it has none.
  Status Build(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context,
               std::shared_ptr<const mslite::Delegation> delegation = nullptr);
  // Builds what trains the model, and begins with evaluation.
  Status BuildTraining(const mslite::SharedModel &model, const mslite::SharedModel *backbone,
                       const std::shared_ptr<Context> &context, const TrainCfg &config);
  // Calls the trainer, and shows what the model runs and gives since. Errors: kLiteUninitializedObj where the model is
  // not built, kLiteNotSupport where it is not built for training; `what` is the function of the API.
  MSLITE_INTERNAL_API Status WithTrainer(const char *what, const std::function<Status(mslite::Trainer *)> &call);
  // Asks the trainer what changes nothing, and takes no memory itself. Errors: as of WithTrainer.
  Status AskTrainer(const char *what, const std::function<Status(const mslite::Trainer &)> &question);
  // Null where the model is not built for training.
  const mslite::Trainer *trainer() const { return trainer_.get(); }
  // Builds again from the same bytes with these constants, and those of earlier calls, for the shapes of now.
  Status UpdateWeights(const std::vector<MSTensor> &weights);
  // Lets products add what an adapter says; builds again where the model has no slots for it yet.
  Status LoadAdapter(const std::string &path);
  // Lets the slots add nothing.
  Status UnloadAdapter();
  Status Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims);
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after) {
    return Predict(inputs, outputs, before, after, nullptr);
  }
  Status Predict(const MSKernelCallBack &before, const MSKernelCallBack &after);

  // `request`: what this run is for, which may be canceled; or null.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after, mslite::Request *request);
  // The requests of PredictAsync.
  mslite::RequestQueue &requests() { return requests_; }

  bool is_built() const { return session_ != nullptr; }
  const mslite::Session *session() const { return session_.get(); }
  // Null where no delegate was asked.
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
  float obfuscation_ratio = 0;                   // that the model was opened with
  // Gets the outputs that the model is about to have in another mode, or null; what it throws leaves the mode as it is.
  std::function<void(const std::vector<MSTensor> &)> prepare_outputs;

 private:
  using Constants = std::map<std::string, MSTensor>;

  Status ReadOptions(const mslite::Graph &graph, const std::shared_ptr<Context> &context,
                     const std::shared_ptr<const mslite::Delegation> &delegation,
                     mslite::SessionOptions *options) const;
  Status CheckTrainer(const char *what) const;
  void FollowTrainer();
  Status Reopen(const std::shared_ptr<mslite::SharedModel> &model, const Constants &constants,
                const std::shared_ptr<const mslite::Adapter> &slots, const mslite::Adapter *adapter,
                const std::vector<mslite::TensorShape> &shapes);
  bool MustOfferAgain(const std::vector<mslite::TensorShape> &shapes) const;
  Status OfferAgain(const std::vector<mslite::TensorShape> &shapes);
  Status RunSession(const std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                    const MSKernelCallBack &after);
  void ShowOutputs(bool with_data);
  void HideOutputs();
  Status InputShapes(std::vector<mslite::TensorShape> *shapes) const;
  Status WithLayoutHint(Status status, const std::vector<mslite::TensorShape> &shapes) const;
  Status ReadInput(size_t index, const MSTensor &tensor, mslite::InputView *view) const;
  Status LendOutput(size_t index, const std::vector<MSTensor> *outputs);
  void GiveOutput(size_t index, std::vector<MSTensor> *outputs);

  // One call at a time; a callback that calls its own model gets an error, where the lock would never be free.
  class Turn;
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  std::shared_ptr<Context> context_;
  std::shared_ptr<mslite::Session> session_;  // other threads, who cancel, load it atomically
  std::unique_ptr<mslite::Trainer> trainer_;
  Constants new_weights_;
  std::shared_ptr<const mslite::Adapter> slots_;    // an adapter that the session has slots for, or null
  std::shared_ptr<const mslite::Adapter> adapter_;  // what they hold, or null
  std::shared_ptr<const mslite::Delegation> delegation_;
  std::vector<mslite::TensorShape> offered_shapes_;  // of the inputs, which the delegates have seen
  bool with_engines_ = true;                         // false after one has failed
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
