// Runs a model, one request at a time: frames, memory and a cache of plans for a shared model.
#ifndef MSLITE_EXEC_SESSION_H
#define MSLITE_EXEC_SESSION_H

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "exec/run_control.h"
#include "exec/variables.h"
#include "plan/planner.h"

namespace mslite {
// Returns the registered kernels for a graph, or nullptr.
using FindRegistered = std::function<std::unique_ptr<RegisteredKernels>(std::shared_ptr<const Graph>)>;

// The arena for values within a run. Sessions that share it run one at a time.
struct Workspace {
  std::mutex turn;
  GrowingBuffer memory;
};

struct SessionOptions {
  IsaSet isas;
  bool half = false;   // compute in float16 (PlanOptions)
  bool mixed = false;  // mixed precision, for training
  std::shared_ptr<const NodeTypes> node_types;
  int32_t threads = 1;
  int32_t inter_op = 1;
  CoreMask cores;
  RunLimits limits;
  FindRegistered registered;
  std::shared_ptr<Workspace> workspace;      // null: the session has its own
  std::shared_ptr<VariableStore> variables;  // null: the session has its own
  KernelLists more_kernels;                  // in addition to those of this library
  bool only_plans = false;                   // only plan, for inspection: nothing is packed or run
};

// An input of one run. All dimensions are known. The caller owns `data`.
struct InputView {
  TensorShape shape;
  const void *data = nullptr;
};

// An output of the model: its address, and its shape if known (otherwise rank -1 or a dimension -1).
struct OutputSlot {
  TensorShape shape;
  GrowingBuffer memory;
  const uint8_t *data = nullptr;  // result of the last run
};

class MSLITE_INTERNAL_API Session {
 public:
  ~Session();

  // Creates a session and checks that every node can run. Errors: kLiteNotFindOp with all nodes that cannot, with
  // operator and data types.
  static Status Create(std::shared_ptr<SharedModel> model, const SessionOptions &options,
                       std::unique_ptr<Session> *session);

  // Plans for these input shapes as far as possible without data, and sets the shapes of the outputs. Shapes with a
  // negative dimension are not planned. Variables that are not shared get their initial values again. On failure the
  // old plans, shapes and variables are kept.
  Status Resize(const std::vector<TensorShape> &inputs);

  // Runs the model. With shapes that were used before, nothing is allocated (an observer may allocate). Errors:
  // kLiteInferError, kLiteOpExecuteFailure, kLiteMemoryFailed, with node and reason; kLiteServiceDeny if the run was
  // canceled or reached a limit.
  Status Run(const InputView *inputs, StepObserver *observer);

  // Sets the content of a variable, which must have its size; null: its initial value. Resize sets the same content
  // again. Not during a run. Errors: kLiteMemoryFailed.
  Status SetVariable(const std::string &name, const void *data);

  // Reserves the memory of a run with the shapes that were planned last, as far as they are known, so that the run
  // cannot fail because memory is out. Not during a run. Errors: kLiteMemoryFailed.
  Status ReserveMemory();

  // Stops the current run before its next operator; may be called by any thread. Returns false if there is no run.
  bool Cancel() { return control_.Cancel(); }

  const Graph &graph() const { return *model_->graph; }
  const std::shared_ptr<SharedModel> &model() const { return model_; }
  std::vector<OutputSlot> &outputs() { return outputs_; }
  const std::vector<OutputSlot> &outputs() const { return outputs_; }
  size_t arena_bytes() const { return workspace_->memory.capacity; }
  const IsaSet &isas() const { return options_.isas; }
  // The plans of the main graph that were used last, in the order of their steps.
  std::vector<const Plan *> LatestPlans() const;
  size_t weight_bytes() const { return model_->weights.bytes(); }

 private:
  struct CachedPlan {
    std::unique_ptr<Binding> binding;
    uint64_t last_used = 0;
  };
  // The plans that begin at the same step of a program.
  struct PlanCache {
    std::vector<CachedPlan> plans;
  };
  struct ProgramState {
    std::vector<PlanCache> caches;  // per first step
    std::vector<std::unique_ptr<Frame>> idle;
    std::vector<std::unique_ptr<Frame>> busy;
  };
  // A graph that is running: its frame, and the next step.
  struct Activation {
    int32_t graph = 0;
    Frame *frame = nullptr;
    int32_t position = 0;
  };
  // The memory of a step whose output shapes depend on contents.
  struct Counting {
    std::vector<mslite_tensor> inputs;
    std::vector<mslite_tensor> outputs;
    std::vector<const mslite_tensor *> input_pointers;
    std::vector<const mslite_tensor *> output_pointers;
    std::vector<const void *> input_data;
    std::vector<void *> output_data;
    std::vector<std::array<int64_t, MSLITE_MAX_RANK>> dims;
    GrowingBuffer derived;
  };

  Session(std::shared_ptr<SharedModel> model, const SessionOptions &options);
  void CheckOperators();
  void SetInputs(const TensorShape *shapes, const InputView *views);
  Status PlanAhead();
  Status FindPlan(int32_t graph_index, int32_t begin, const Frame &frame, bool *needs_data, Binding **binding);
  Status Reserve(uint64_t bytes, const char *what, GrowingBuffer *buffer, uint8_t **memory) const;
  Status ReserveResult(const Program &program, int32_t local, const TensorShape &shape, Frame *frame, uint8_t **memory);
  Status ReserveLastResults();
  Status RunPlan(Binding *binding, const Program &program, Frame *frame, StepObserver *observer);
  Status FinishOutputs(const Activation &finished);
  Status KernelFailure(const Step &step, const mslite_failure &failure) const;
  void SetConstant(const Program &program, int32_t local, Value *value) const;

  void FindVariables();
  Status ResetVariables();
  Status ResetVariable(const Variable &variable, VariableState *state);
  Status BindVariables(int32_t graph_index, Frame *frame);
  Status AnotherShape(const Program &program, int32_t local) const;
  Status WrongValue(const Program &program, int32_t local, const char *what) const;
  Status KeepVariables(const Activation &ended);
  void CommitVariables(bool succeeded);

  Frame *TakeFrame(int32_t graph_index);
  void ReturnFrame(int32_t graph_index, Frame *frame);
  void ReturnAllFrames();
  Status CopyValue(const Value &from, Value *to) const;
  Status PassValue(const Program &program, Frame *frame, int32_t local, bool is_last, Value *to) const;
  Status Choose(const Program &program, const CallSite::Choice &choice, const Frame &frame, size_t *target) const;
  Status EnterCall(const Activation &caller, const CallSite &site, Activation *callee);
  Status LeaveCall(const Activation &callee, const Activation &caller);
  Status RunSteps(Activation *current, StepObserver *observer);
  Status RunGraphs(Activation *current, StepObserver *observer);
  Status RunWhole(StepObserver *observer);
  Status RunDataDependent(const Program &program, const Plan &plan, Frame *frame, StepObserver *observer);

  std::shared_ptr<SharedModel> model_;
  SessionOptions options_;
  std::unique_ptr<RegisteredKernels> registered_;  // outlives the plans
  PlanOptions plan_options_;
  Executor executor_;
  RunControl control_;
  size_t most_bytes_;                  // limit of all memory that Reserve provides
  mutable size_t reserved_bytes_ = 0;  // of that, reserved without the workspace
  std::vector<ProgramState> programs_;
  std::shared_ptr<Workspace> workspace_;
  std::vector<OutputSlot> outputs_;
  std::shared_ptr<VariableStore> variable_store_;
  std::vector<VariableState *> variables_;  // of the store, in the order of the model's variables
  Frame main_frame_;
  std::vector<Activation> callers_;  // of the running graph: the graphs to return to
  Counting counting_;
  bool is_created_ = false;
  uint64_t clock_ = 0;
  Problems problems_;
};
}  // namespace mslite

#endif
