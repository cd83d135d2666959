// Placement: the backend of each node of a model, with the reason if the CPU runs it.
#ifndef MSLITE_REGISTRY_PLACEMENT_H
#define MSLITE_REGISTRY_PLACEMENT_H

#include <string>
#include <vector>

namespace mslite {
struct Placement {
  std::string node;
  std::string op;
  std::string reason;  // why the backend does not run the node; empty if it does
  int32_t part = -1;   // index of its partition on the backend; -1: none
  int64_t flops = 0;   // of one run; 0 if shapes are unknown
};

// A kernel that is offered to a backend of mslite.
class Offer {
 public:
  virtual ~Offer() = default;
  // Returns the provider of the registered kernel that will run the node; empty if there is none.
  virtual const std::string &provider() const = 0;
};

// A kernel of a backend of mslite, which runs a partition of the model.
class EnginePart {
 public:
  virtual ~EnginePart() = default;
  // Returns true if the CPU and other backends may run at the same time.
  virtual bool may_run_in_parallel() const = 0;
};

// A delegate that reports which nodes it runs, and why it does not run the others.
class PlacementReporter {
 public:
  virtual ~PlacementReporter() = default;
  virtual std::string engine_name() const = 0;
  // Returns the placements of all nodes that were offered, in order.
  virtual const std::vector<Placement> &placements() const = 0;
  // Returns why the backend has failed; empty if it has not.
  virtual std::string failure() const = 0;
};
}  // namespace mslite

#endif
