// Branches of a model that a backend and the CPU run at the same time.
#ifndef MSLITE_DELEGATE_ENGINE_BRANCHES_H
#define MSLITE_DELEGATE_ENGINE_BRANCHES_H

#include <cstdint>
#include <vector>

#include "engine/part.h"

namespace mslite {
struct Branching {
  // Nodes that the backend supports but the CPU runs.
  std::vector<size_t> moved;
  // Nodes before which a partition ends. The CPU waits for whole partitions, so a partition must end where branches
  // start.
  std::vector<size_t> cuts;
};

// Plans the branches. `is_taken`: for each node, if the backend supports it. `flops_per_second`: speed of the device.
// With `may_move`, branches of the backend are moved to the CPU if this reduces the latency.
Branching PlanBranches(const Part &whole, const std::vector<bool> &is_taken, double flops_per_second, bool may_move);
}  // namespace mslite

#endif
