// What delegates have taken over of a model.
#ifndef MSLITE_REGISTRY_DELEGATION_H
#define MSLITE_REGISTRY_DELEGATION_H

#include <memory>
#include <vector>

#include "include/api/delegate.h"
#include "model/graph.h"
#include "registry/placement.h"

namespace mslite {
class Delegation {
 public:
  // A kernel of the delegate, and the nodes of the file that it stands for, in their order.
  struct Part {
    std::unique_ptr<mindspore::kernel::Kernel> kernel;
    std::vector<Node> nodes;
    int32_t lane = -1;  // of its delegate; -1: it runs when nothing else does
  };

  // Offers the nodes of the main graph to each of the context's delegates in turn: that of the application, then our
  // engines for the context's devices. Puts one node (`Node::part`) in the place of those that each of their kernels
  // stands for. Nothing is taken where a delegate's Init gives kLiteNotSupport; what our engines cannot run is left to
  // the CPU, unless the context forbids it.
  // Errors: the application's delegate's own; kLiteParamInvalid where what it made of the graph cannot run.
  static Status Offer(const std::shared_ptr<mindspore::Context> &context, bool with_engines, Graph *graph,
                      std::shared_ptr<Delegation> *result);

  const std::vector<Part> &parts() const { return parts_; }
  // Of our engines, in the order in which they were asked.
  const std::vector<const Placing *> &placings() const { return placings_; }
  // Why engines that the context asks for are not there.
  const std::vector<std::string> &missing() const { return missing_; }
  // Whether a delegate of the application was offered tensors whose sizes were open.
  bool was_open() const { return was_open_; }
  // Whether every part may run beside what it does not wait for. Those of one delegate still take turns.
  bool may_run_beside() const;
  // Why one of our engines failed since; empty: none did.
  std::string EngineFailure() const;

 private:
  class Offered;
  struct Taking;
  // A delegate, and what it was offered.
  struct Round {
    std::shared_ptr<mindspore::Delegate> delegate;  // outlives its kernels
    bool is_ours = false;
    std::vector<mindspore::MSTensor> tensors;  // of the graph; null where no offered node has them
    std::vector<std::unique_ptr<mindspore::kernel::Kernel>> offered;
    std::vector<std::unique_ptr<mindspore::kernel::Kernel>> made;  // not yet in a part
  };

  Status OfferTo(const std::shared_ptr<mindspore::Delegate> &delegate, bool is_ours,
                 const std::shared_ptr<mindspore::Context> &context, Graph *graph, bool *is_missing);
  static Status Ask(const std::shared_ptr<mindspore::Context> &context, const Graph &graph, Round *round,
                    std::vector<mindspore::kernel::Kernel *> *kernels);
  Status Take(Round *round, const std::vector<mindspore::kernel::Kernel *> &kernels, Graph *graph);

  std::vector<std::unique_ptr<Round>> rounds_;
  std::vector<Part> parts_;  // end before the rounds
  std::vector<const Placing *> placings_;
  std::vector<std::string> missing_;
  bool was_open_ = false;
};

// The delegate of a context, also one that was set by the older function; null where there is none.
std::shared_ptr<mindspore::AbstractDelegate> DelegateOf(const mindspore::Context &context);
// Whether there is a delegate to ask: the application's, or an engine for a device that the context prefers to the CPU.
bool MayDelegate(mindspore::Context *context);
// Falls back for each device of the context that this library has no engine for.
Status TellMissingEngines(mindspore::Context *context);
// Errors: kLiteNotSupport where this library does not have the built-in delegate that the context names.
Status CheckBuiltInDelegate(const mindspore::Context &context);
// When an engine of mslite cannot run what it should: a warning, or kLiteNotSupport where the context forbids that the
// CPU runs it instead.
Status FallBack(const mindspore::Context &context, const std::string &reason);
}  // namespace mslite

#endif
