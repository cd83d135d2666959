// Delegation: the partitions of a model that run on delegates.
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
  // A partition: a kernel of the delegate, and the nodes of the file that it replaces, in order of execution.
  struct Part {
    std::unique_ptr<mindspore::kernel::Kernel> kernel;
    std::vector<Node> nodes;
    int32_t lane = -1;  // partitions of a lane run one after the other; -1: nothing else runs at the same time
  };

  // Offers the nodes of the main graph to each delegate of the context: that of the application, then the backends of
  // mslite for the context's devices. The nodes of a partition are replaced by one node (`Node::part`). If Init of a
  // delegate returns kLiteNotSupport, it gets no nodes. If a backend of mslite fails, the CPU runs its nodes, unless
  // the context disables the fallback. Errors: those of the application's delegate; kLiteParamInvalid if its list of
  // kernels cannot run.
  static Status Offer(const std::shared_ptr<mindspore::Context> &context, bool with_engines, Graph *graph,
                      std::shared_ptr<Delegation> *result);

  const std::vector<Part> &parts() const { return parts_; }
  // Returns the placements of the backends of mslite, in the order in which nodes were offered to them.
  const std::vector<const PlacementReporter *> &placings() const { return placings_; }
  // Returns why backends of the context are not available.
  const std::vector<std::string> &missing() const { return missing_; }
  // Returns true if tensors with dynamic dimensions were offered to a delegate of the application.
  bool was_open() const { return was_open_; }
  // Returns true if all partitions may run in parallel with other nodes. Partitions of one delegate run one after the
  // other.
  bool may_run_in_parallel() const;
  // Returns why a backend of mslite has failed; empty if none has.
  std::string EngineFailure() const;

 private:
  class Offered;
  struct Taking;
  // A delegate, and the kernels that were offered to it.
  struct Round {
    std::shared_ptr<mindspore::Delegate> delegate;  // outlives its kernels
    bool is_ours = false;
    std::vector<mindspore::MSTensor> tensors;  // of the graph; null for tensors that no offered node uses
    std::vector<std::unique_ptr<mindspore::kernel::Kernel>> offered;
    std::vector<std::unique_ptr<mindspore::kernel::Kernel>> made;  // created by the delegate, not yet in a partition
  };

  Status OfferTo(const std::shared_ptr<mindspore::Delegate> &delegate, bool is_ours,
                 const std::shared_ptr<mindspore::Context> &context, Graph *graph, bool *is_missing);
  static Status Ask(const std::shared_ptr<mindspore::Context> &context, const Graph &graph, Round *round,
                    std::vector<mindspore::kernel::Kernel *> *kernels);
  Status Take(Round *round, const std::vector<mindspore::kernel::Kernel *> &kernels, Graph *graph);

  std::vector<std::unique_ptr<Round>> rounds_;
  std::vector<Part> parts_;  // destroyed before the rounds
  std::vector<const PlacementReporter *> placings_;
  std::vector<std::string> missing_;
  bool was_open_ = false;
};

// Returns the delegate of a context, which set_delegate or SetDelegate has set; null if there is none.
std::shared_ptr<mindspore::AbstractDelegate> DelegateOf(const mindspore::Context &context);
// Returns true if the context has a delegate of the application, or a device that is preferred to the CPU.
bool HasDelegates(mindspore::Context *context);
// Calls FallBack for each device of the context for which this library has no backend.
Status ReportMissingBackends(mindspore::Context *context);
// Errors: kLiteNotSupport if this library does not have the built-in delegate of the context.
Status CheckBuiltInDelegate(const mindspore::Context &context);
// Called if a backend of mslite fails. Logs a warning, or returns kLiteNotSupport if the context disables the fallback
// to the CPU.
Status FallBack(const mindspore::Context &context, const std::string &reason);
}  // namespace mslite

#endif
