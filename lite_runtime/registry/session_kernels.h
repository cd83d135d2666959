// The registered kernels that a session may use.
#ifndef MSLITE_REGISTRY_SESSION_KERNELS_H
#define MSLITE_REGISTRY_SESSION_KERNELS_H

#include <memory>

#include "include/api/context.h"
#include "plan/registered.h"
#include "registry/delegation.h"

namespace mslite {
// Those for the nodes of `graph`, as the providers of the context decide, and those of a delegate (or null); nullptr
// where no node has one. What is registered later does not count.
std::unique_ptr<RegisteredKernels> KernelsOfSession(std::shared_ptr<const Graph> graph,
                                                    const std::shared_ptr<mindspore::Context> &context,
                                                    const std::shared_ptr<const Delegation> &delegation);
}  // namespace mslite

#endif
