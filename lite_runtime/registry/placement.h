// Which engine runs which node of a model, and why no other one does.
#ifndef MSLITE_REGISTRY_PLACEMENT_H
#define MSLITE_REGISTRY_PLACEMENT_H

#include <string>
#include <vector>

namespace mslite {
struct Placement {
  std::string node;
  std::string op;
  std::string reason;  // why the engine does not run it; empty: it does
  int32_t part = -1;   // of those that the engine runs: which of its parts it belongs to
  int64_t flops = 0;   // of one run; 0 where shapes are open
};

// A kernel that is offered to an engine of mslite.
class Offer {
 public:
  virtual ~Offer() = default;
  // Of the registered kernel that will run it; empty: there is none.
  virtual const std::string &provider() const = 0;
};

// A kernel of an engine of mslite, which stands for a part of the model.
class EnginePart {
 public:
  virtual ~EnginePart() = default;
  // Whether the CPU, and parts of other engines, may work while it does.
  virtual bool may_run_beside() const = 0;
};

// A delegate that says what it has taken, and why it left the rest.
class Placing {
 public:
  virtual ~Placing() = default;
  virtual std::string engine_name() const = 0;
  // Of all nodes that were offered, in their order.
  virtual const std::vector<Placement> &placements() const = 0;
  // Why the engine failed, in one of its parts; empty: it did not.
  virtual std::string failure() const = 0;
};
}  // namespace mslite

#endif
