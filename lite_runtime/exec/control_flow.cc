// Runs graphs that call graphs, and steps whose output shapes depend on the contents of their inputs.
#include <algorithm>
#include <cstring>

#include "exec/session.h"
#include "plan/prepare.h"
#include "plan/shapes.h"

namespace mslite {
namespace {
constexpr size_t kMaximumDepth = 4096;  // nested calls that are not tail calls
}

Frame *Session::TakeFrame(int32_t graph_index) {
  ProgramState &state = programs_[static_cast<size_t>(graph_index)];
  std::unique_ptr<Frame> frame;
  if (state.idle.empty()) {
    frame = std::make_unique<Frame>();
    frame->values.resize(model_->programs[static_cast<size_t>(graph_index)].tensors.size());
    state.idle.reserve(state.idle.capacity() + 1);
  } else {
    frame = std::move(state.idle.back());
    state.idle.pop_back();
  }
  state.busy.push_back(std::move(frame));
  return state.busy.back().get();
}

void Session::ReturnFrame(int32_t graph_index, Frame *frame) {
  if (frame == &main_frame_) return;
  ProgramState &state = programs_[static_cast<size_t>(graph_index)];
  const auto place = std::find_if(state.busy.rbegin(), state.busy.rend(),  // the last one taken is returned first
                                  [frame](const std::unique_ptr<Frame> &busy) { return busy.get() == frame; });
  state.idle.push_back(std::move(*place));
  state.busy.erase(std::next(place).base());
}

void Session::ReturnAllFrames() {
  for (ProgramState &state : programs_) {
    for (std::unique_ptr<Frame> &frame : state.busy) state.idle.push_back(std::move(frame));
    state.busy.clear();
  }
}

Status Session::CopyValue(const Value &from, Value *to) const {
  const auto bytes = static_cast<size_t>(ByteSize(from.shape));
  uint8_t *memory = nullptr;
  MSLITE_TRY(Reserve(bytes, "a value", to->target != nullptr ? to->target : &to->own, &memory));
  if (bytes != 0) std::memcpy(memory, from.data, bytes);
  to->shape = from.shape;
  to->data = memory;
  return mindspore::kSuccess;
}

// Copies a value of a frame, or hands over its memory if no later step reads it.
Status Session::PassValue(const Program &program, Frame *frame, int32_t local, bool is_last, Value *to) const {
  if (program.producer[static_cast<size_t>(local)] == Program::kConstant) {
    Value constant;
    SetConstant(program, local, &constant);
    return CopyValue(constant, to);
  }
  Value &from = frame->values[static_cast<size_t>(local)];
  if (!is_last || !from.MayHandTo(*to)) return CopyValue(from, to);
  std::swap(from.own, to->own);
  to->shape = from.shape;
  to->data = to->own.own.get();
  from.data = nullptr;
  return mindspore::kSuccess;
}

// Finds the target that a Switch or SwitchLayer selects.
Status Session::Choose(const Program &program, const CallSite::Choice &choice, const Frame &frame,
                       size_t *target) const {
  const Node &node = graph().nodes[static_cast<size_t>(choice.node)];
  const auto failed = [&](const std::string &reason) {
    return Fail(mindspore::kLiteOpExecuteFailure,
                "file '" + graph().file->name() + "': " + Describe(node) + ": " + reason);
  };
  Value constant;
  const Value *selector = &frame.values[static_cast<size_t>(choice.selector)];
  if (program.producer[static_cast<size_t>(choice.selector)] == Program::kConstant) {
    SetConstant(program, choice.selector, &constant);
    selector = &constant;
  }
  const int64_t bytes = ByteSize(selector->shape);
  const auto size = static_cast<size_t>(mslite_type_size(selector->shape.type));
  if (size == 0 || bytes < static_cast<int64_t>(size)) return failed("its condition is empty");
  int64_t number = 0;
  if (selector->shape.type == MSLITE_INT32) {
    int32_t narrow = 0;
    std::memcpy(&narrow, selector->data, sizeof narrow);
    number = narrow;
  } else if (selector->shape.type == MSLITE_INT64) {
    std::memcpy(&number, selector->data, sizeof number);
  } else if (size == 1) {
    number = *selector->data;
  } else {
    return failed("its condition is neither a boolean nor an integer");
  }
  if (!choice.selects_by_index) {
    *target = number != 0 ? 0 : 1;
    return mindspore::kSuccess;
  }
  if (number < 0 || static_cast<size_t>(number) >= choice.targets.size()) {
    return failed(Format("there is no branch %lld of %zu", static_cast<long long>(number), choice.targets.size()));
  }
  *target = static_cast<size_t>(number);
  return mindspore::kSuccess;
}

// Picks the branch and gives it its arguments.
Status Session::EnterCall(const Activation &caller, const CallSite &site, Activation *callee) {
  const Program &program = model_->programs[static_cast<size_t>(caller.graph)];
  int32_t closure = site.closure;
  while (closure < 0) {
    const CallSite::Choice &choice = site.choices[static_cast<size_t>(~closure)];
    size_t target = 0;
    MSLITE_TRY(Choose(program, choice, *caller.frame, &target));
    closure = choice.targets[target];
  }
  const CallSite::Branch &branch = site.branches[static_cast<size_t>(closure)];
  const Program &target = model_->programs[static_cast<size_t>(branch.graph)];
  *callee = {branch.graph, TakeFrame(branch.graph), 0};
  MSLITE_TRY(BindVariables(branch.graph, callee->frame));
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    const int32_t local = branch.arguments[i];
    const bool is_over = site.is_tail || program.last_use[static_cast<size_t>(local)] == caller.position;
    const bool is_last = is_over && std::find(branch.arguments.begin() + static_cast<ptrdiff_t>(i) + 1,
                                              branch.arguments.end(), local) == branch.arguments.end();
    MSLITE_TRY(PassValue(program, caller.frame, local, is_last,
                         &callee->frame->values[static_cast<size_t>(target.inputs[i])]));
  }
  return mindspore::kSuccess;
}

// Copies the outputs of a finished graph to the outputs of the Call in the caller.
Status Session::LeaveCall(const Activation &callee, const Activation &caller) {
  const Program &program = model_->programs[static_cast<size_t>(caller.graph)];
  const Program &ended = model_->programs[static_cast<size_t>(callee.graph)];
  const ProgramStep &step = program.steps[static_cast<size_t>(caller.position)];
  const CallSite &site = program.calls[static_cast<size_t>(step.call)];
  if (ended.outputs.size() != site.outputs.size()) {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph().file->name() + "': " + Describe(graph().nodes[static_cast<size_t>(step.node)]) +
                    ": graph '" + ended.subgraph->name + "' has a different number of outputs than the call");
  }
  for (size_t i = 0; i < site.outputs.size(); ++i) {
    const bool is_last = std::find(ended.outputs.begin() + static_cast<ptrdiff_t>(i) + 1, ended.outputs.end(),
                                   ended.outputs[i]) == ended.outputs.end();
    MSLITE_TRY(PassValue(ended, callee.frame, ended.outputs[i], is_last,
                         &caller.frame->values[static_cast<size_t>(site.outputs[i])]));
  }
  ReturnFrame(callee.graph, callee.frame);
  return mindspore::kSuccess;
}

// Runs the plans of a graph up to its next call, or to its end.
Status Session::RunSteps(Activation *current, StepObserver *observer) {
  const Program &program = model_->programs[static_cast<size_t>(current->graph)];
  while (current->position < static_cast<int32_t>(program.steps.size()) &&
         program.steps[static_cast<size_t>(current->position)].call < 0) {
    bool needs_data = false;
    Binding *binding = nullptr;
    MSLITE_TRY(FindPlan(current->graph, current->position, *current->frame, &needs_data, &binding));
    if (needs_data) return Fail(mindspore::kLiteError, "internal error: a plan needs data that is not available");
    const Plan &plan = binding->plan();
    if (plan.is_data_dependent) {
      MSLITE_TRY(RunDataDependent(program, plan, current->frame, observer));
    } else {
      MSLITE_TRY(RunPlan(binding, program, current->frame, observer));
    }
    current->position = plan.end;
  }
  return mindspore::kSuccess;
}

// Runs a graph and all graphs that it calls. `current` becomes the graph whose outputs are the results. A tail call
// replaces the current graph, so loops, which are recursion by tail calls, need no stack.
Status Session::RunGraphs(Activation *current, StepObserver *observer) {
  callers_.clear();
  while (true) {
    MSLITE_TRY(RunSteps(current, observer));
    const Program &program = model_->programs[static_cast<size_t>(current->graph)];
    if (current->position >= static_cast<int32_t>(program.steps.size())) {
      MSLITE_TRY(KeepVariables(*current));
      if (callers_.empty()) return mindspore::kSuccess;
      MSLITE_TRY(LeaveCall(*current, callers_.back()));
      *current = callers_.back();
      callers_.pop_back();
      ++current->position;
      continue;
    }
    const ProgramStep &step = program.steps[static_cast<size_t>(current->position)];
    const CallSite &site = program.calls[static_cast<size_t>(step.call)];
    Activation callee;
    if (control_.Stops()) return control_.Reason();
    if (site.is_tail) MSLITE_TRY(KeepVariables(*current));
    MSLITE_TRY(EnterCall(*current, site, &callee));
    if (site.is_tail) {
      ReturnFrame(current->graph, current->frame);
    } else if (callers_.size() < kMaximumDepth) {
      callers_.push_back(*current);
    } else {
      return Fail(mindspore::kLiteOpExecuteFailure,
                  "file '" + graph().file->name() + "': " + Describe(graph().nodes[static_cast<size_t>(step.node)]) +
                      Format(": more than %zu nested calls: the recursion does not end", kMaximumDepth));
    }
    *current = callee;
  }
}

// Runs one step: its kernel computes the output shapes from the inputs, then it is prepared again and run.
Status Session::RunDataDependent(const Program &program, const Plan &plan, Frame *frame, StepObserver *observer) {
  const Step &step = plan.steps[0];
  const ProgramStep &source = program.steps[static_cast<size_t>(plan.begin)];
  Counting &work = counting_;
  work.inputs.assign(source.inputs.size(), UnknownTensor());
  work.outputs.assign(source.outputs.size(), UnknownTensor());
  work.dims.resize(source.outputs.size());
  work.input_pointers.clear();
  work.output_pointers.clear();
  work.input_data.clear();
  work.output_data.assign(source.outputs.size(), nullptr);
  const auto describe = [&](int32_t local, const TensorShape &shape, mslite_tensor *tensor) {
    const int32_t index = program.tensors[static_cast<size_t>(local)];
    const Tensor &original = graph().tensors[static_cast<size_t>(index)];
    const mslite_tensor *folded = model_->weights.Folded(index);
    *tensor = TensorOf(shape);
    tensor->data = folded != nullptr ? folded->data : original.data;
    FillKnown(tensor);
    tensor->quant_count = static_cast<int32_t>(original.quant.size());
    tensor->quant = original.quant.data();
  };
  for (size_t i = 0; i < source.inputs.size(); ++i) {
    const Operand &operand = step.inputs[i];
    describe(source.inputs[i], step.input_shapes[i], &work.inputs[i]);
    work.input_pointers.push_back(&work.inputs[i]);
    work.input_data.push_back(operand.place == Operand::kFixed ? operand.fixed
                                                               : frame->values[static_cast<size_t>(operand.at)].data);
  }
  for (size_t i = 0; i < source.outputs.size(); ++i) {
    describe(source.outputs[i], step.output_shapes[i], &work.outputs[i]);
    std::copy_n(work.outputs[i].dims, MSLITE_MAX_RANK, work.dims[i].begin());
    work.output_pointers.push_back(&work.outputs[i]);
  }
  const mslite_node node = {step.node->op,
                            step.params(),
                            static_cast<int32_t>(source.inputs.size()),
                            static_cast<int32_t>(source.outputs.size()),
                            work.input_pointers.data(),
                            work.output_pointers.data(),
                            step.node->quant_type};
  const auto failed = [&](mslite_status status) {
    return Fail(mindspore::kLiteOpExecuteFailure,
                "file '" + graph().file->name() + "': " + Describe(*step.node) + ": " +
                    (step.registered != nullptr ? step.registered->error() : StatusText(status)));
  };
  uint8_t *derived = nullptr;
  MSLITE_TRY(Reserve(static_cast<uint64_t>(std::max(step.kernel->derived_size, int32_t{0})), "a kernel", &work.derived,
                     &derived));
  mslite_schedule schedule = {};
  mslite_run run = {derived, work.input_data.data(), work.output_data.data(), nullptr, nullptr, nullptr};
  int64_t stride = 0;
  const auto prepare = [&]() -> Status {
    if (const mslite_status status = PrepareKernel(*step.kernel, node, derived, &schedule); status != MSLITE_OK)
      return failed(status);
    const int64_t shared = (schedule.shared_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    stride = (schedule.scratch_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    uint8_t *arena = nullptr;
    MSLITE_TRY(
        Reserve(static_cast<uint64_t>(shared + stride * options_.threads), "a workspace", &workspace_->memory, &arena));
    run.shared = arena;
    run.scratch = arena + shared;
    return mindspore::kSuccess;
  };
  MSLITE_TRY(prepare());
  if (const mslite_status status =
          step.kernel->count(&run, reinterpret_cast<int64_t(*)[MSLITE_MAX_RANK]>(work.dims.data()));
      status != MSLITE_OK) {
    return failed(status);
  }
  for (size_t i = 0; i < source.outputs.size(); ++i) {
    std::copy_n(work.dims[i].begin(), MSLITE_MAX_RANK, work.outputs[i].dims);
    if (step.registered != nullptr) work.outputs[i].rank = step.registered->CountedRank(i);
    const TensorShape shape = ShapeOf(work.outputs[i]);
    if (ByteSize(shape) < 0) return failed(MSLITE_ERROR_SHAPE);
    Value &value = frame->values[static_cast<size_t>(source.outputs[i])];
    uint8_t *memory = nullptr;
    MSLITE_TRY(ReserveResult(program, source.outputs[i], shape, frame, &memory));
    value.shape = shape;
    value.data = memory;
    work.output_data[i] = memory;
  }
  MSLITE_TRY(prepare());
  if (control_.Stops()) return control_.Reason();
  if (observer != nullptr) observer->Before(step, run.inputs, run.outputs);
  const mslite_failure failure = executor_.RunStep(*step.kernel, schedule, stride, run);
  if (observer != nullptr) observer->After(step, run.inputs, run.outputs, 0.0);
  return failure.status == MSLITE_OK ? Status(mindspore::kSuccess) : KernelFailure(step, failure);
}
}  // namespace mslite
