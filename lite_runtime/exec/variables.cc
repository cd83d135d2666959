// Variables: what a session remembers from one run to the next.
#include <cstring>

#include "exec/session.h"

namespace mslite {
// Gives every variable its first value.
Status Session::ResetVariables() {
  variables_.resize(model_->variables.size());
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Tensor &initial = graph().tensors[static_cast<size_t>(model_->variables[i].initial)];
    VariableState &variable = variables_[i];
    variable.is_written = false;
    variable.shape = TensorShape{initial.type, static_cast<int32_t>(initial.dims.size()), {}};
    std::copy(initial.dims.begin(), initial.dims.end(), variable.shape.dims);
    const int64_t bytes = ByteSize(variable.shape);
    if (bytes < 0 || (bytes > 0 && initial.data == nullptr)) {
      return Fail(mindspore::kLiteGraphFileError, "file '" + graph().file->name() + "': the variable '" +
                                                      model_->variables[i].name + "' has no first value");
    }
    uint8_t *memory = nullptr;
    MSLITE_TRY(Reserve(static_cast<uint64_t>(bytes), "a variable", &variable.next, &memory));
    MSLITE_TRY(Reserve(static_cast<uint64_t>(bytes), "a variable", &variable.current, &memory));
    if (bytes > 0) std::memcpy(memory, initial.data, static_cast<size_t>(bytes));
  }
  return mindspore::kSuccess;
}

// Lets a frame read the variables as they are when its graph is entered.
Status Session::BindVariables(int32_t graph_index, Frame *frame) {
  for (const Program::VariableUse &use : model_->programs[static_cast<size_t>(graph_index)].reads) {
    VariableState &variable = variables_[static_cast<size_t>(use.variable)];
    Value &value = frame->values[static_cast<size_t>(use.local)];
    Value now;
    now.shape = variable.shape;
    now.data = variable.is_written ? variable.next.own.get() : variable.current.own.get();
    if (frame == &main_frame_) {
      value.shape = now.shape;  // nothing changes the current values during a run
      value.data = now.data;
    } else {
      MSLITE_TRY(CopyValue(now, &value));
    }
  }
  return mindspore::kSuccess;
}

// Takes the new values of the variables from a graph that is about to be left.
Status Session::KeepVariables(const Activation &ended) {
  const Program &program = model_->programs[static_cast<size_t>(ended.graph)];
  for (const Program::VariableUse &use : program.writes) {
    VariableState &variable = variables_[static_cast<size_t>(use.variable)];
    Value constant;
    const Value *value = &ended.frame->values[static_cast<size_t>(use.local)];
    if (program.producer[static_cast<size_t>(use.local)] == Program::kConstant) {
      SetConstant(program, use.local, &constant);
      value = &constant;
    }
    if (!(value->shape == variable.shape)) {
      return Fail(mindspore::kLiteOpExecuteFailure,
                  "file '" + graph().file->name() + "': the variable '" +
                      model_->variables[static_cast<size_t>(use.variable)].name +
                      "' is assigned a value of another type or shape than its first one");
    }
    const auto bytes = static_cast<size_t>(ByteSize(value->shape));
    if (bytes > 0 && value->data != variable.next.own.get()) {
      std::memcpy(variable.next.own.get(), value->data, bytes);
    }
    variable.is_written = true;
  }
  return mindspore::kSuccess;
}

// Ends a run: new values become current ones, or are forgotten.
void Session::CommitVariables(bool succeeded) {
  for (VariableState &variable : variables_) {
    if (succeeded && variable.is_written) std::swap(variable.current, variable.next);
    variable.is_written = false;
  }
}
}  // namespace mslite
