// The variables of a model, which keep their values from run to run.
#ifndef MSLITE_EXEC_VARIABLES_H
#define MSLITE_EXEC_VARIABLES_H

#include <map>
#include <string>

#include "plan/frame.h"

namespace mslite {
// The current value of a variable, and the new value that the current run has assigned.
struct VariableState {
  TensorShape shape;
  GrowingBuffer current;
  GrowingBuffer next;
  bool is_written = false;
};

// Variables by name, for sessions that run one at a time and share them. They keep their values when a session is
// resized. Optimizers update them in place: a run that fails or is canceled after its first optimizer leaves some
// variables updated and some not.
struct VariableStore {
  std::map<std::string, VariableState> states;
};
}  // namespace mslite

#endif
