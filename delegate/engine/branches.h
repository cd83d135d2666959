// Branches of a model that an engine and the CPU run at the same time.
#ifndef MSLITE_DELEGATE_ENGINE_BRANCHES_H
#define MSLITE_DELEGATE_ENGINE_BRANCHES_H

#include <cstdint>
#include <vector>

#include "engine/part.h"

namespace mslite {
struct Branching {
  // Nodes that the engine leaves to the CPU, although it has them.
  std::vector<size_t> moved;
  // Nodes in front of which a part ends. The CPU waits for whole parts: where branches begin, what they need is there.
  std::vector<size_t> cuts;
};

// `is_taken`: of each node, whether the engine has it, whose device computes at `flops_per_second`. Branches that the
// engine has are left to the CPU only with `may_move`, and where both are sooner done.
Branching PlanBranches(const Part &whole, const std::vector<bool> &is_taken, double flops_per_second, bool may_move);
}  // namespace mslite

#endif
