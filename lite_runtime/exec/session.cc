#include "exec/session.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <mutex>
#include <set>

#include "plan/choose_kernel.h"
#include "plan/shapes.h"
#include "threads/process_mutex.h"

namespace mslite {
namespace {
constexpr size_t kCachedPlans = 8;      // per first step
constexpr size_t kListedProblems = 50;  // nodes named in one message

bool HasKernel(int32_t op, const IsaSet &isas) {
  return AnyKernelOf(op, [&isas](const mslite_kernel *kernel) { return isas.Has(kernel->isa); });
}

std::string NoKernelFor(int32_t op) {
  return IsTrainingOperator(op) && TrainingKernels().count == 0 ? NeedsTrainingLibrary("this operator")
                                                                : "this operator has no kernel in this library";
}

// Returns the message for a Custom node without a kernel.
std::string NoKernelOf(const std::string &type) {
  const std::string why = "no kernel is registered for this type in this process; ";
  if (type != "ethos-u") return why + "load the plug-in that provides one";
  return why +
         "it is compiled for an Arm Ethos-U NPU, which mslite-codegen supports (docs/ethosu.md); for this processor "
         "convert the model without --target";
}

Status ProblemStatus(const Graph &graph, const Problems &problems) {
  std::string text = "file '" + graph.file->name() + "': " + std::to_string(problems.size()) + " node(s) cannot run:";
  size_t listed = 0;
  for (const auto &[node, reason] : problems) {
    if (++listed > kListedProblems) break;
    text += "\n  " + Describe(graph.nodes[static_cast<size_t>(node)]) + ": " + reason;
  }
  if (listed > kListedProblems) text += "\n  ...";
  return Fail(mindspore::kLiteNotFindOp, text);
}

// Masks are never freed, because helper threads compare them by address.
const CoreMask *InternCores(const CoreMask &cores) {
  if (cores.empty()) return nullptr;
  const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kCores));
  static auto *masks = new std::set<CoreMask>;
  return &*masks->insert(cores).first;
}

bool IsKnown(const TensorShape &shape) {
  return shape.rank >= 0 && std::all_of(shape.dims, shape.dims + shape.rank, [](int64_t dim) { return dim >= 0; });
}
}  // namespace

Session::Session(std::shared_ptr<SharedModel> model, const SessionOptions &options)
    : model_(std::move(model)),
      options_(options),
      registered_(options.registered ? options.registered(model_->graph) : nullptr),
      plan_options_{options.isas,      options.threads, options.inter_op > 1, options.more_kernels,
                    registered_.get(), options.half,    options.node_types,   options.mixed},
      executor_(options.threads, options.inter_op, InternCores(options.cores)),
      workspace_(options.workspace ? options.workspace : std::make_shared<Workspace>()),
      variable_store_(options.variables ? options.variables : std::make_shared<VariableStore>()) {
  plan_options_.packs = !options.only_plans;
  control_.SetLimits(options.limits);
  most_bytes_ = MachineBytes();
  if (options.limits.bytes > 0) {
    most_bytes_ = static_cast<size_t>(std::min<uint64_t>(static_cast<uint64_t>(options.limits.bytes), most_bytes_));
  }
  programs_.resize(model_->programs.size());
  for (size_t i = 0; i < programs_.size(); ++i) programs_[i].caches.resize(model_->programs[i].steps.size());
  outputs_.resize(graph().outputs.size());
  const Program &main = model_->programs[0];
  main_frame_.values.resize(main.tensors.size());
  FindVariables();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    // The last steps write directly to the memory of the outputs.
    for (const int32_t local : main.outputs) {
      const bool is_computed = main.producer[static_cast<size_t>(local)] >= 0 &&
                               main.producer[static_cast<size_t>(local)] != Program::kConstant;
      Value &value = main_frame_.values[static_cast<size_t>(local)];
      if (is_computed && value.target == nullptr && main.tensors[static_cast<size_t>(local)] == graph().outputs[i]) {
        value.target = &outputs_[i].memory;
        break;
      }
    }
  }
}

Session::~Session() = default;

Status Session::Create(std::shared_ptr<SharedModel> model, const SessionOptions &options,
                       std::unique_ptr<Session> *session) {
  std::unique_ptr<Session> result(new Session(std::move(model), options));
  ThreadPool::Instance().Grow(std::max(options.threads, options.inter_op));
  result->CheckOperators();
  std::vector<TensorShape> shapes;
  for (const int32_t input : result->graph().inputs) {
    const Tensor &tensor = result->graph().tensors[static_cast<size_t>(input)];
    TensorShape shape;
    shape.type = tensor.type;
    shape.rank = tensor.has_rank || !tensor.dims.empty() ? static_cast<int32_t>(tensor.dims.size()) : -1;
    std::copy(tensor.dims.begin(), tensor.dims.end(), shape.dims);
    shapes.push_back(shape);
  }
  const Status status = result->Resize(shapes);
  if (!result->problems_.empty()) return ProblemStatus(result->graph(), result->problems_);
  MSLITE_TRY(status);
  result->is_created_ = true;
  *session = std::move(result);
  return mindspore::kSuccess;
}

// Collects the nodes that cannot run for any shapes.
void Session::CheckOperators() {
  for (const Program &program : model_->programs) {
    for (const ProgramStep &step : program.steps) {
      if (step.call >= 0 || (registered_ != nullptr && registered_->Has(step.node))) continue;
      const Node &node = graph().nodes[static_cast<size_t>(step.node)];
      if (!HasShapeRule(node.op) || node.params == nullptr) {
        problems_[step.node] =
            node.custom_type.empty() ? "this operator has no shape rule in this library" : NoKernelOf(node.custom_type);
      } else if (!HasKernel(node.op, plan_options_.isas)) {
        problems_[step.node] = NoKernelFor(node.op);
      } else if (!node.problem.empty()) {
        problems_[step.node] = node.problem;
      }
    }
  }
}

Status Session::Resize(const std::vector<TensorShape> &inputs) {
  const Program &main = model_->programs[0];
  std::vector<TensorShape> old_inputs;
  std::vector<TensorShape> old_outputs;
  for (const int32_t local : main.inputs) old_inputs.push_back(main_frame_.values[static_cast<size_t>(local)].shape);
  for (const OutputSlot &output : outputs_) old_outputs.push_back(output.shape);
  // Restores the shapes after any failure, including exceptions such as std::bad_alloc.
  struct Ending {
    const std::function<void()> undo;
    bool succeeded = false;
    ~Ending() {
      if (!succeeded) undo();
    }
  } ending = {[&] {
    for (size_t i = 0; i < main.inputs.size(); ++i) {
      main_frame_.values[static_cast<size_t>(main.inputs[i])].shape = old_inputs[i];
    }
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i].shape = old_outputs[i];
  }};
  SetInputs(inputs.data(), nullptr);
  for (OutputSlot &output : outputs_) output.shape = TensorShape{0, -1, {}};
  if (!is_created_) MSLITE_TRY(ResetVariables());
  MSLITE_TRY(BindVariables(0, &main_frame_));
  if (std::all_of(inputs.begin(), inputs.end(), IsKnown)) MSLITE_TRY(PlanAhead());
  if (!problems_.empty()) return ProblemStatus(graph(), problems_);
  MSLITE_TRY(ResetVariables());
  for (OutputSlot &output : outputs_) output.data = nullptr;  // it has the old shape
  ending.succeeded = true;
  return mindspore::kSuccess;
}

// Sets the inputs of the main graph. `shapes` and `views` are in the order of the model's inputs.
void Session::SetInputs(const TensorShape *shapes, const InputView *views) {
  const Program &main = model_->programs[0];
  for (size_t i = 0; i < graph().inputs.size(); ++i) {
    for (const int32_t local : main.inputs) {
      if (main.tensors[static_cast<size_t>(local)] != graph().inputs[i]) continue;
      Value &value = main_frame_.values[static_cast<size_t>(local)];
      value.shape = views == nullptr ? shapes[i] : views[i].shape;
      value.data = views == nullptr ? nullptr : static_cast<const uint8_t *>(views[i].data);
    }
  }
}

// Plans the main graph from its beginning up to the first step that needs computed data.
Status Session::PlanAhead() {
  const Program &main = model_->programs[0];
  for (int32_t position = 0; position < static_cast<int32_t>(main.steps.size());) {
    if (main.steps[static_cast<size_t>(position)].call >= 0) return mindspore::kSuccess;
    bool needs_data = false;
    Binding *binding = nullptr;
    MSLITE_TRY(FindPlan(0, position, main_frame_, &needs_data, &binding));
    if (needs_data || binding->plan().is_data_dependent) return mindspore::kSuccess;
    for (const Plan::Result &result : binding->plan().results) {
      Value &value = main_frame_.values[static_cast<size_t>(result.local)];
      value.shape = result.shape;
      value.data = result.constant;
    }
    position = binding->plan().end;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    for (const int32_t local : main.outputs) {
      if (main.tensors[static_cast<size_t>(local)] != graph().outputs[i]) continue;
      const Value &value = main_frame_.values[static_cast<size_t>(local)];
      if (main.producer[static_cast<size_t>(local)] != Program::kConstant) outputs_[i].shape = value.shape;
    }
  }
  return mindspore::kSuccess;
}

Status Session::FindPlan(int32_t graph_index, int32_t begin, const Frame &frame, bool *needs_data, Binding **binding) {
  *needs_data = false;
  std::vector<CachedPlan> &plans = programs_[static_cast<size_t>(graph_index)].caches[static_cast<size_t>(begin)].plans;
  for (CachedPlan &cached : plans) {
    if (!cached.binding->plan().Fits(frame)) continue;
    cached.last_used = ++clock_;
    *binding = cached.binding.get();
    return mindspore::kSuccess;
  }
  Problems found;
  Planner planner(model_.get(), model_->programs[static_cast<size_t>(graph_index)], frame, plan_options_, &found);
  std::shared_ptr<const Plan> plan;
  MSLITE_TRY(planner.Make(begin, needs_data, &plan));
  if (!found.empty()) {
    // While the session is built, all problems are collected, and the first of each node is kept. Later, a request with
    // other shapes may still run.
    if (!is_created_) problems_.insert(found.begin(), found.end());
    return ProblemStatus(graph(), found);
  }
  if (*needs_data) return mindspore::kSuccess;
  if (plans.size() >= kCachedPlans) {
    plans.erase(std::min_element(plans.begin(), plans.end(),
                                 [](const CachedPlan &a, const CachedPlan &b) { return a.last_used < b.last_used; }));
  }
  plans.push_back({std::make_unique<Binding>(std::move(plan)), ++clock_});
  *binding = plans.back().binding.get();
  return mindspore::kSuccess;
}

std::vector<const Plan *> Session::LatestPlans() const {
  std::vector<const Plan *> plans;
  for (const PlanCache &cache : programs_[0].caches) {
    const auto latest =
        std::max_element(cache.plans.begin(), cache.plans.end(),
                         [](const CachedPlan &a, const CachedPlan &b) { return a.last_used < b.last_used; });
    if (latest != cache.plans.end()) plans.push_back(&latest->binding->plan());
  }
  return plans;
}

Status Session::Reserve(uint64_t bytes, const char *what, GrowingBuffer *buffer, uint8_t **memory) const {
  const size_t before = buffer->capacity;
  // Sessions share workspaces and variables, so another session may have changed the buffer's capacity.
  const bool is_workspace = buffer == &workspace_->memory;
  const size_t own = reserved_bytes_ - std::min(reserved_bytes_, is_workspace ? 0 : before);
  const size_t others = own + (is_workspace ? 0 : workspace_->memory.capacity);
  const size_t room = most_bytes_ - std::min(most_bytes_, others);
  const bool fits = bytes <= std::max(before, buffer->lent_size) || bytes <= room;
  *memory = fits ? buffer->Reserve(bytes, room) : nullptr;
  if (!is_workspace) reserved_bytes_ = own + buffer->capacity;
  if (*memory != nullptr) return mindspore::kSuccess;
  const bool is_limit = !fits && most_bytes_ < MachineBytes();
  const std::string limit =
      is_limit ? Format("; the run's memory limit is %zu bytes (RunLimits; benchmark --memoryLimit)", most_bytes_) : "";
  return Fail(mindspore::kLiteMemoryFailed, Format("file '%.300s': no memory for %" PRIu64 " bytes of %s%s",
                                                   graph().file->name().c_str(), bytes, what, limit.c_str()));
}

// Reserves memory for the result of a step. A result that is written to a variable's memory must have the variable's
// shape, because other sessions hold its address.
Status Session::ReserveResult(const Program &program, int32_t local, const TensorShape &shape, Frame *frame,
                              uint8_t **memory) {
  Value &value = frame->values[static_cast<size_t>(local)];
  if (!value.FitsTarget(shape)) return AnotherShape(program, local);
  return Reserve(static_cast<uint64_t>(ByteSize(shape)), "a value", value.target != nullptr ? value.target : &value.own,
                 memory);
}

// Reserves memory for results that a run copies at its end, when variables have already changed.
Status Session::ReserveLastResults() {
  uint8_t *memory = nullptr;
  for (const Program::VariableUse &write : model_->programs[0].writes) {
    VariableState &variable = *variables_[static_cast<size_t>(write.variable)];
    if (main_frame_.values[static_cast<size_t>(write.local)].target == &variable.current) continue;
    MSLITE_TRY(Reserve(static_cast<uint64_t>(ByteSize(variable.shape)), "a variable", &variable.next, &memory));
  }
  for (OutputSlot &output : outputs_) {
    const int64_t bytes = ByteSize(output.shape);
    if (bytes > 0) MSLITE_TRY(Reserve(static_cast<uint64_t>(bytes), "an output", &output.memory, &memory));
  }
  return mindspore::kSuccess;
}

Status Session::ReserveMemory() {
  const Program &main = model_->programs[0];
  uint8_t *memory = nullptr;
  for (int32_t position = 0; position < static_cast<int32_t>(main.steps.size());) {
    bool needs_data = main.steps[static_cast<size_t>(position)].call >= 0;
    Binding *binding = nullptr;
    if (!needs_data) MSLITE_TRY(FindPlan(0, position, main_frame_, &needs_data, &binding));
    if (needs_data || binding->plan().is_data_dependent) break;
    for (const Plan::Result &result : binding->plan().results) {
      MSLITE_TRY(ReserveResult(main, result.local, result.shape, &main_frame_, &memory));
    }
    MSLITE_TRY(
        Reserve(static_cast<uint64_t>(binding->plan().arena_bytes), "activations", &workspace_->memory, &memory));
    position = binding->plan().end;
  }
  return ReserveLastResults();
}

Status Session::RunPlan(Binding *binding, const Program &program, Frame *frame, StepObserver *observer) {
  const Plan &plan = binding->plan();
  for (const Plan::Result &result : plan.results) {
    Value &value = frame->values[static_cast<size_t>(result.local)];
    uint8_t *memory = nullptr;
    if (result.takes >= 0) {
      Value &dying = frame->values[static_cast<size_t>(result.takes)];
      if (dying.MayHandTo(value)) {
        std::swap(value.own, dying.own);
        memory = value.own.own.get();
      }
    }
    if (memory == nullptr) MSLITE_TRY(ReserveResult(program, result.local, result.shape, frame, &memory));
    if (result.constant != nullptr) std::memcpy(memory, result.constant, result.bytes);
    value.shape = result.shape;
    value.data = memory;
  }
  uint8_t *arena = nullptr;
  MSLITE_TRY(Reserve(static_cast<uint64_t>(plan.arena_bytes), "activations", &workspace_->memory, &arena));
  binding->Resolve(*frame, arena);
  FailureRecord failures;
  executor_.Run(binding, observer, &control_, &failures);
  MSLITE_TRY(control_.Reason());
  if (failures.first().status == MSLITE_OK) return mindspore::kSuccess;
  return KernelFailure(plan.steps[static_cast<size_t>(failures.step())], failures.first());
}

Status Session::KernelFailure(const Step &step, const mslite_failure &failure) const {
  return Fail(mindspore::kLiteOpExecuteFailure,
              "file '" + graph().file->name() + "': " + Describe(*step.node) + ": " +
                  (step.registered != nullptr ? step.registered->error() : FailureText(failure)));
}

Status Session::Run(const InputView *inputs, StepObserver *observer) {
  std::unique_lock<std::mutex> turn;
  if (options_.workspace) turn = std::unique_lock<std::mutex>(workspace_->turn);
  // After any end of the run, including a callback that throws, the session can run again.
  struct Ending {
    Session *session;
    bool succeeded = false;
    ~Ending() {
      session->CommitVariables(succeeded);
      session->ReturnAllFrames();
      session->control_.End();
    }
  } ending = {this};
  SetInputs(nullptr, inputs);
  for (OutputSlot &output : outputs_) output.data = nullptr;  // a failed run may have freed it
  control_.Start();
  const Status status = RunWhole(observer);
  ending.succeeded = status.IsOk();
  return status;
}

Status Session::RunWhole(StepObserver *observer) {
  Activation current = {0, &main_frame_, 0};
  MSLITE_TRY(BindVariables(0, &main_frame_));
  if (options_.variables != nullptr) MSLITE_TRY(ReserveLastResults());
  MSLITE_TRY(RunGraphs(&current, observer));
  return FinishOutputs(current);
}

// Copies the results to the output slots.
Status Session::FinishOutputs(const Activation &finished) {
  const Program &program = model_->programs[static_cast<size_t>(finished.graph)];
  const auto place_of = [&](size_t output) {
    const auto place = std::find_if(program.outputs.begin(), program.outputs.end(), [&](int32_t local) {
      return program.tensors[static_cast<size_t>(local)] == graph().outputs[output];
    });
    return static_cast<size_t>(place - program.outputs.begin());
  };
  bool by_tensor = true;
  for (size_t i = 0; i < outputs_.size(); ++i) by_tensor = by_tensor && place_of(i) < program.outputs.size();
  if (!by_tensor && program.outputs.size() != outputs_.size()) {
    return Fail(mindspore::kLiteGraphFileError, "file '" + graph().file->name() + "': graph '" +
                                                    program.subgraph->name +
                                                    "' ends the run with a wrong number of outputs");
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const int32_t local = program.outputs[by_tensor ? place_of(i) : i];
    Value constant;
    const Value *value = &finished.frame->values[static_cast<size_t>(local)];
    if (program.producer[static_cast<size_t>(local)] == Program::kConstant) {
      SetConstant(program, local, &constant);
      value = &constant;
    }
    const auto bytes = static_cast<size_t>(ByteSize(value->shape));
    uint8_t *memory = nullptr;
    MSLITE_TRY(Reserve(bytes, "an output", &outputs_[i].memory, &memory));
    if (memory != value->data && bytes != 0) std::memcpy(memory, value->data, bytes);
    outputs_[i].shape = value->shape;
    outputs_[i].data = memory;
  }
  return mindspore::kSuccess;
}

void Session::SetConstant(const Program &program, int32_t local, Value *value) const {
  const Tensor &tensor = graph().tensors[static_cast<size_t>(program.tensors[static_cast<size_t>(local)])];
  value->shape = TensorShape{tensor.type, static_cast<int32_t>(tensor.dims.size()), {}};
  std::copy(tensor.dims.begin(), tensor.dims.end(), value->shape.dims);
  value->data = tensor.data;
}
}  // namespace mslite
