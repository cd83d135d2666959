// A model that runs one request at a time: frames, memory and a cache of plans over a shared model.
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
// Gives the registered kernels for a graph, or nullptr.
using FindRegistered = std::function<std::unique_ptr<RegisteredKernels>(std::shared_ptr<const Graph>)>;

// The arena for what lives within a run. Sessions that share one take turns.
struct Workspace {
  std::mutex turn;
  GrowingBuffer memory;
};

struct SessionOptions {
  IsaSet isas;
  bool half = false;   // computes in float16 (PlanOptions)
  bool mixed = false;  // likewise, for training
  std::shared_ptr<const NodeTypes> node_types;
  int32_t threads = 1;
  int32_t inter_op = 1;
  CoreMask cores;
  RunLimits limits;
  FindRegistered registered;
  std::shared_ptr<Workspace> workspace;      // null: one of its own
  std::shared_ptr<VariableStore> variables;  // likewise
  KernelLists more_kernels;                  // beside those of this library
  bool only_plans = false;                   // it says what it would do, and never runs: nothing is packed
};

// An input of one run. All dimensions are known; `data` stays the caller's.
struct InputView {
  TensorShape shape;
  const void *data = nullptr;
};

// An output of the model: where it is, and its shape when that is known (rank -1 or a dimension -1 otherwise).
struct OutputSlot {
  TensorShape shape;
  GrowingBuffer memory;
  const uint8_t *data = nullptr;  // of the last run
};

class MSLITE_INTERNAL_API Session {
 public:
  ~Session();

  // Checks that every node can run. Errors: kLiteNotFindOp naming every node that cannot, with operator and types.
  static Status Create(std::shared_ptr<SharedModel> model, const SessionOptions &options,
                       std::unique_ptr<Session> *session);

  // Plans for these input shapes as far as that is possible without data, and sets the shapes of the outputs.
  // A shape with a negative dimension is not planned. Variables that are the session's alone get their first values
  // again. On failure the old plans, shapes and variables stay.
  Status Resize(const std::vector<TensorShape> &inputs);

  // Runs. With shapes that were seen before, nothing is allocated (an observer may allocate).
  // Errors: kLiteInferError, kLiteOpExecuteFailure, kLiteMemoryFailed, with node and reason; kLiteServiceDeny when
  // the run was canceled or reached a limit.
  Status Run(const InputView *inputs, StepObserver *observer);

  // Between runs: gives a variable of the model this content of its size, or, where it is null, its first value; that
  // is what it gets again when the session is resized, too. Errors: kLiteMemoryFailed.
  Status SetVariable(const std::string &name, const void *data);

  // Between runs: takes the memory of one with the shapes that were planned last, as far as they are known, so that it
  // does not fail for want of memory. Errors: kLiteMemoryFailed.
  Status TakeMemory();

  // From any thread: ends the run that goes on before its next operator; false when none does.
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
  // The plans that begin at one step of a program.
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
  // Working memory of a step whose output shapes are counted.
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
  Status TakeResult(const Program &program, int32_t local, const TensorShape &shape, Frame *frame, uint8_t **memory);
  Status TakeLastResults();
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
  Status RunCounted(const Program &program, const Plan &plan, Frame *frame, StepObserver *observer);

  std::shared_ptr<SharedModel> model_;
  SessionOptions options_;
  std::unique_ptr<RegisteredKernels> registered_;  // outlives the plans
  PlanOptions plan_options_;
  Executor executor_;
  RunControl control_;
  size_t most_bytes_;                  // of all that Reserve gives
  mutable size_t reserved_bytes_ = 0;  // of it, without the workspace
  std::vector<ProgramState> programs_;
  std::shared_ptr<Workspace> workspace_;
  std::vector<OutputSlot> outputs_;
  std::shared_ptr<VariableStore> variable_store_;
  std::vector<VariableState *> variables_;  // of the store, in the order of the model
  Frame main_frame_;
  std::vector<Activation> callers_;  // of the graph that is running, where control comes back to them
  Counting counting_;
  bool is_created_ = false;
  uint64_t clock_ = 0;
  Problems problems_;
};
}  // namespace mslite

#endif
