// The operands of the optimizers in MindSpore's training graphs.
#ifndef MSLITE_MODEL_OPTIMIZERS_H
#define MSLITE_MODEL_OPTIMIZERS_H

#include <cstdint>

#include "model/internal_api.h"

namespace mslite {
// Input indices. Input 0 is the weight. Kernels output the updated weight, then the updated states in this order.
struct OptimizerOperands {
  int32_t op;
  int32_t gradient;
  int32_t learning_rate;
  int32_t momentum;  // -1 if there is none
  int32_t state_count;
  int32_t states[2];
};

// Returns nullptr for other operators.
MSLITE_INTERNAL_API const OptimizerOperands *FindOptimizer(int32_t op);
}  // namespace mslite

#endif
