// What sessions remember from one run to the next.
#ifndef MSLITE_EXEC_VARIABLES_H
#define MSLITE_EXEC_VARIABLES_H

#include <map>
#include <string>

#include "plan/frame.h"

namespace mslite {
// The value of a variable, and the one that the run that goes on has given it.
struct VariableState {
  TensorShape shape;
  GrowingBuffer current;
  GrowingBuffer next;
  bool is_written = false;
};

// Variables by name, for sessions that take turns: each sees what the others have left. They keep their values when a
// session is resized, and optimizers change them where they are: a run that fails or is canceled behind its first
// optimizer leaves some new and some old.
struct VariableStore {
  std::map<std::string, VariableState> states;
};
}  // namespace mslite

#endif
