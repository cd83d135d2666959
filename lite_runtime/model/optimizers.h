// The optimizers of MindSpore's training graphs: which of their operands are what.
#ifndef MSLITE_MODEL_OPTIMIZERS_H
#define MSLITE_MODEL_OPTIMIZERS_H

#include <cstdint>

#include "model/internal_api.h"

namespace mslite {
// Operand 0 is the weight. Kernels give what has changed as results: the weight, then the states in this order.
struct OptimizerOperands {
  int32_t op;
  int32_t gradient;
  int32_t learning_rate;
  int32_t momentum;  // -1: it has none
  int32_t state_count;
  int32_t states[2];
};

// Null for another operator.
MSLITE_INTERNAL_API const OptimizerOperands *FindOptimizer(int32_t op);
}  // namespace mslite

#endif
