#include "model/optimizers.h"

#include <algorithm>
#include <iterator>

#include "kernel.h"

namespace mslite {
namespace {
constexpr OptimizerOperands kOptimizers[] = {
    {MSLITE_OP_SGD, 1, 2, 4, 2, {3, 5}},
    {MSLITE_OP_ApplyMomentum, 3, 2, 4, 1, {1, 0}},
    {MSLITE_OP_Adam, 9, 5, -1, 2, {1, 2}},
    {MSLITE_OP_AdamWeightDecay, 8, 3, -1, 2, {1, 2}},
};
}  // namespace

const OptimizerOperands *FindOptimizer(int32_t op) {
  const auto *found = std::find_if(std::begin(kOptimizers), std::end(kOptimizers),
                                   [op](const OptimizerOperands &entry) { return entry.op == op; });
  return found == std::end(kOptimizers) ? nullptr : found;
}
}  // namespace mslite
