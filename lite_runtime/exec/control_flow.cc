// Graphs that call graphs, and steps whose output shapes are counted when their inputs are there.
#include <algorithm>
#include <cstring>

#include "exec/session.h"
#include "plan/shapes.h"

namespace mslite {
namespace {
constexpr int32_t kMaximumDepth = 512;  // calls that are not tail calls, within each other
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
  const auto place = std::find_if(state.busy.begin(), state.busy.end(),
                                  [frame](const std::unique_ptr<Frame> &busy) { return busy.get() == frame; });
  state.idle.push_back(std::move(*place));
  state.busy.erase(place);
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

const Value *Session::ValueOf(const Program &program, const Frame &frame, int32_t local, Value *constant) const {
  if (program.producer[static_cast<size_t>(local)] != Program::kConstant)
    return &frame.values[static_cast<size_t>(local)];
  SetConstant(program, local, constant);
  return constant;
}

// Picks the branch and binds its arguments.
Status Session::EnterCall(const Program &program, const CallSite &site, const Node &node, const Frame &frame,
                          Finished *callee) {
  size_t choice = 0;
  Value constant;
  if (site.selector >= 0) {
    const Value &selector = *ValueOf(program, frame, site.selector, &constant);
    const bool is_wide = selector.shape.type == MSLITE_INT32;
    if (ByteSize(selector.shape) < (is_wide ? 4 : 1)) {
      return Fail(mindspore::kLiteOpExecuteFailure, Describe(node) + ": its condition is empty");
    }
    int32_t number = *selector.data;
    if (is_wide) std::memcpy(&number, selector.data, sizeof number);
    if (!site.selects_by_index) {
      choice = number != 0 ? 0 : 1;
    } else if (number < 0 || static_cast<size_t>(number) >= site.branches.size()) {
      return Fail(mindspore::kLiteOpExecuteFailure,
                  Describe(node) + Format(": there is no branch %d", static_cast<int>(number)));
    } else {
      choice = static_cast<size_t>(number);
    }
  }
  const CallSite::Branch &branch = site.branches[choice];
  const Program &target = model_->programs[static_cast<size_t>(branch.graph)];
  callee->graph = branch.graph;
  callee->frame = TakeFrame(branch.graph);
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    const Value *argument = ValueOf(program, frame, branch.arguments[i], &constant);
    MSLITE_TRY(CopyValue(*argument, &callee->frame->values[static_cast<size_t>(target.inputs[i])]));
  }
  return mindspore::kSuccess;
}

// Runs a graph to its end. `place` enters as the graph to run and leaves as the one whose outputs are the results:
// a tail call replaces the graph, so loops, which are recursion by tail calls, need no stack.
Status Session::RunGraph(Finished *place, int32_t depth, StepObserver *observer) {
  int32_t position = 0;
  while (true) {
    const Program &program = model_->programs[static_cast<size_t>(place->graph)];
    if (position >= static_cast<int32_t>(program.steps.size())) return mindspore::kSuccess;
    const ProgramStep &step = program.steps[static_cast<size_t>(position)];
    if (step.call < 0) {
      bool needs_data = false;
      Binding *binding = nullptr;
      MSLITE_TRY(FindPlan(place->graph, position, *place->frame, &needs_data, &binding));
      if (needs_data) return Fail(mindspore::kLiteError, "a plan asks for data that should be there");
      const Plan &plan = binding->plan();
      if (plan.is_counted) {
        MSLITE_TRY(RunCounted(program, plan, place->frame, observer));
      } else {
        MSLITE_TRY(RunPlan(binding, place->frame, observer));
      }
      position = plan.end;
      continue;
    }
    const CallSite &site = program.calls[static_cast<size_t>(step.call)];
    const Node &node = graph().nodes[static_cast<size_t>(step.node)];
    Finished callee;
    MSLITE_TRY(EnterCall(program, site, node, *place->frame, &callee));
    if (site.is_tail) {
      ReturnFrame(place->graph, place->frame);
      *place = callee;
      position = 0;
      continue;
    }
    if (depth >= kMaximumDepth)
      return Fail(mindspore::kLiteOpExecuteFailure, Describe(node) + ": calls are nested too deeply");
    MSLITE_TRY(RunGraph(&callee, depth + 1, observer));
    const Program &ended = model_->programs[static_cast<size_t>(callee.graph)];
    if (ended.outputs.size() != site.outputs.size()) {
      return Fail(mindspore::kLiteGraphFileError,
                  Describe(node) + ": graph '" + ended.subgraph->name + "' has another number of outputs");
    }
    for (size_t i = 0; i < site.outputs.size(); ++i) {
      Value constant;
      const Value *result = ValueOf(ended, *callee.frame, ended.outputs[i], &constant);
      MSLITE_TRY(CopyValue(*result, &place->frame->values[static_cast<size_t>(site.outputs[i])]));
    }
    ReturnFrame(callee.graph, callee.frame);
    ++position;
  }
}

// One step: its kernel tells the shapes of the outputs from the inputs, then it is prepared again and run.
Status Session::RunCounted(const Program &program, const Plan &plan, Frame *frame, StepObserver *observer) {
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
                            step.node->params,
                            static_cast<int32_t>(source.inputs.size()),
                            static_cast<int32_t>(source.outputs.size()),
                            work.input_pointers.data(),
                            work.output_pointers.data(),
                            step.node->quant_type};
  const auto failed = [&](mslite_status status) {
    return Fail(mindspore::kLiteOpExecuteFailure,
                "file '" + graph().file->name() + "': " + Describe(*step.node) + ": " + StatusText(status));
  };
  uint8_t *derived = nullptr;
  MSLITE_TRY(Reserve(static_cast<size_t>(std::max(step.kernel->derived_size, int32_t{0})), "a kernel", &work.derived,
                     &derived));
  mslite_schedule schedule = {};
  mslite_run run = {derived, work.input_data.data(), work.output_data.data(), nullptr, nullptr};
  int64_t stride = 0;
  const auto prepare = [&]() -> Status {
    schedule = {};
    if (const mslite_status status = step.kernel->prepare(&node, derived, &schedule); status != MSLITE_OK)
      return failed(status);
    const int64_t shared = (schedule.shared_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    stride = (schedule.scratch_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    uint8_t *arena = nullptr;
    MSLITE_TRY(Reserve(static_cast<size_t>(shared + stride * options_.threads), "a workspace", &arena_, &arena));
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
    const TensorShape shape = ShapeOf(work.outputs[i]);
    const int64_t bytes = ByteSize(shape);
    if (bytes < 0) return failed(MSLITE_ERROR_SHAPE);
    Value &value = frame->values[static_cast<size_t>(source.outputs[i])];
    uint8_t *memory = nullptr;
    MSLITE_TRY(
        Reserve(static_cast<size_t>(bytes), "a value", value.target != nullptr ? value.target : &value.own, &memory));
    value.shape = shape;
    value.data = memory;
    work.output_data[i] = memory;
  }
  MSLITE_TRY(prepare());
  if (observer != nullptr) observer->Before(step, run.inputs, run.outputs);
  executor_.RunStep(*step.kernel, schedule, stride, run);
  if (observer != nullptr) observer->After(step, run.inputs, run.outputs, 0.0);
  return mindspore::kSuccess;
}
}  // namespace mslite
