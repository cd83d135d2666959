#include <algorithm>
#include <cstring>

#include "exec/session.h"
#include "model/optimizers.h"
#include "model/pages.h"

namespace mslite {
namespace {
// Returns whether a step may overwrite a variable that it reads. Optimizers (also sparse ones) and an addition of equal
// shapes read every element before they write it. Not for single values, which all parts of SGD read.
bool WritesOver(const Graph &graph, const Program &program, const ProgramStep &step, int32_t output) {
  const Node &node = graph.nodes[static_cast<size_t>(step.node)];
  if (FindOptimizer(node.op) != nullptr) return node.op != MSLITE_OP_SGD || output != step.outputs.back();
  if (node.op == MSLITE_OP_SparseDescent) return true;
  if (node.op != MSLITE_OP_AddFusion || step.inputs.size() != 2) return false;
  const auto tensor_at = [&](size_t input) -> const Tensor & {
    return graph.tensors[static_cast<size_t>(program.tensors[static_cast<size_t>(step.inputs[input])])];
  };
  return tensor_at(0).has_rank && tensor_at(1).has_rank && tensor_at(0).dims == tensor_at(1).dims;
}

TensorShape FirstShape(const Tensor &initial) {
  TensorShape shape{initial.type, static_cast<int32_t>(initial.dims.size()), {}};
  std::copy(initial.dims.begin(), initial.dims.end(), shape.dims);
  return shape;
}

// Returns whether the step that computes the new value of a variable may write it in place: no later step reads the old
// value, and the step itself may overwrite it.
bool ChangesInPlace(const Graph &graph, const Program &program, const Program::VariableUse &write) {
  const int32_t producer = program.producer[static_cast<size_t>(write.local)];
  if (producer < 0 || producer == Program::kConstant) return false;
  const auto is_another = [&](const Program::VariableUse &other) {
    return other.variable == write.variable && other.local != write.local;
  };
  if (std::any_of(program.writes.begin(), program.writes.end(), is_another)) return false;  // the last write counts
  const ProgramStep &step = program.steps[static_cast<size_t>(producer)];
  const int32_t last = WritesOver(graph, program, step, write.local) ? producer : producer - 1;
  return std::all_of(program.reads.begin(), program.reads.end(), [&](const Program::VariableUse &read) {
    return read.variable != write.variable || program.last_use[static_cast<size_t>(read.local)] <= last;
  });
}
}  // namespace

// Finds the variables in the store. Lets steps update shared variables in place.
void Session::FindVariables() {
  for (const Variable &variable : model_->variables) {
    variables_.push_back(&variable_store_->states[variable.name]);
  }
  if (options_.variables == nullptr) return;
  const Program &main = model_->programs[0];
  for (const Program::VariableUse &write : main.writes) {
    if (!ChangesInPlace(graph(), main, write)) continue;
    VariableState &variable = *variables_[static_cast<size_t>(write.variable)];
    main_frame_.values[static_cast<size_t>(write.local)].target = &variable.current;
    main_frame_.values[static_cast<size_t>(write.local)].target_shape = &variable.shape;
  }
}

Status Session::ResetVariable(const Variable &variable, VariableState *state) {
  const Tensor &initial = graph().tensors[static_cast<size_t>(variable.initial)];
  const TensorShape shape = FirstShape(initial);
  const int64_t bytes = ByteSize(shape);
  if (bytes < 0 || (bytes > 0 && initial.data == nullptr)) {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph().file->name() + "': the variable '" + variable.name + "' has no initial value");
  }
  uint8_t *memory = nullptr;
  MSLITE_TRY(Reserve(static_cast<uint64_t>(bytes), "a variable", &state->current, &memory));
  state->is_written = false;
  state->shape = shape;
  if (bytes == 0) return mindspore::kSuccess;
  std::memcpy(memory, initial.data, static_cast<size_t>(bytes));
  ReleasePages(graph(), initial.data, static_cast<size_t>(bytes));
  return mindspore::kSuccess;
}

// Sets every variable to its initial value, except for shared variables that already have one.
Status Session::ResetVariables() {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Variable &variable = model_->variables[i];
    if (options_.variables == nullptr || variables_[i]->current.own == nullptr) {
      MSLITE_TRY(ResetVariable(variable, variables_[i]));
    } else if (!(variables_[i]->shape == FirstShape(graph().tensors[static_cast<size_t>(variable.initial)]))) {
      return Fail(mindspore::kLiteGraphFileError, "file '" + graph().file->name() + "': the variable '" +
                                                      variable.name +
                                                      "' has another data type or shape in another session");
    }
  }
  return mindspore::kSuccess;
}

Status Session::SetVariable(const std::string &name, const void *data) {
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (model_->variables[i].name != name) continue;
    MSLITE_TRY(ResetVariable(model_->variables[i], variables_[i]));
    if (data != nullptr) {
      std::memcpy(variables_[i]->current.own.get(), data, static_cast<size_t>(ByteSize(variables_[i]->shape)));
    }
  }
  return mindspore::kSuccess;
}

// Lets a frame read the current values of the variables when its graph is entered.
Status Session::BindVariables(int32_t graph_index, Frame *frame) {
  for (const Program::VariableUse &use : model_->programs[static_cast<size_t>(graph_index)].reads) {
    const VariableState &variable = *variables_[static_cast<size_t>(use.variable)];
    Value &value = frame->values[static_cast<size_t>(use.local)];
    Value now;
    now.shape = variable.shape;
    now.data = variable.is_written ? variable.next.own.get() : variable.current.own.get();
    if (frame == &main_frame_) {
      value.shape = now.shape;  // no step changes the current values during a run
      value.data = now.data;
    } else {
      MSLITE_TRY(CopyValue(now, &value));
    }
  }
  return mindspore::kSuccess;
}

Status Session::WrongValue(const Program &program, int32_t local, const char *what) const {
  const auto write = std::find_if(program.writes.begin(), program.writes.end(),
                                  [local](const Program::VariableUse &use) { return use.local == local; });
  return Fail(mindspore::kLiteOpExecuteFailure, "file '" + graph().file->name() + "': the variable '" +
                                                    model_->variables[static_cast<size_t>(write->variable)].name +
                                                    "' is assigned a value " + what);
}

Status Session::AnotherShape(const Program &program, int32_t local) const {
  return WrongValue(program, local, "whose data type or shape differs from the initial value");
}

// Stores the new values of the variables when a graph ends.
Status Session::KeepVariables(const Activation &ended) {
  const Program &program = model_->programs[static_cast<size_t>(ended.graph)];
  for (const Program::VariableUse &use : program.writes) {
    VariableState &variable = *variables_[static_cast<size_t>(use.variable)];
    Value constant;
    const Value *value = &ended.frame->values[static_cast<size_t>(use.local)];
    if (program.producer[static_cast<size_t>(use.local)] == Program::kConstant) {
      SetConstant(program, use.local, &constant);
      value = &constant;
    }
    if (!(value->shape == variable.shape)) return AnotherShape(program, use.local);
    if (value->target == &variable.current) continue;
    const auto bytes = static_cast<size_t>(ByteSize(value->shape));
    if (bytes > 0 && value->data == nullptr) return WrongValue(program, use.local, "that no node of the run computes");
    uint8_t *memory = nullptr;
    MSLITE_TRY(Reserve(bytes, "a variable", &variable.next, &memory));
    if (bytes > 0 && value->data != memory) std::memcpy(memory, value->data, bytes);
    variable.is_written = true;
  }
  return mindspore::kSuccess;
}

// Ends a run: new values become the current values, or are discarded.
void Session::CommitVariables(bool succeeded) {
  for (VariableState *variable : variables_) {
    if (succeeded && variable->is_written) std::swap(variable->current, variable->next);
    variable->is_written = false;
  }
}
}  // namespace mslite
