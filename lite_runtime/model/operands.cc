#include "model/operands.h"

namespace mslite {
namespace {
struct Operands {
  int16_t op;
  int8_t inputs;
  int8_t outputs;
};

#define X(number, inputs, outputs) {number, inputs, outputs},
constexpr Operands kOperands[] = {
#include "op_operands.inc"
};
#undef X

const Operands *Find(int32_t op) {
  for (const Operands &entry : kOperands) {
    if (entry.op == op) return &entry;
  }
  return nullptr;
}
}  // namespace

int32_t MinInputs(int32_t op) {
  const Operands *found = Find(op);
  return found == nullptr ? -1 : found->inputs;
}

int32_t MinOutputs(int32_t op) {
  const Operands *found = Find(op);
  return found == nullptr ? -1 : found->outputs;
}
}  // namespace mslite
