// The registered kernels of a session.
#ifndef MSLITE_REGISTRY_SESSION_KERNELS_H
#define MSLITE_REGISTRY_SESSION_KERNELS_H

#include <memory>

#include "include/api/context.h"
#include "plan/registered.h"
#include "registry/delegation.h"

namespace mslite {
// Returns the kernels for the nodes of `graph` from the providers of the context and the partitions of `delegation`
// (which may be null); nullptr if no node has one. Kernels that are registered later are not used.
std::unique_ptr<RegisteredKernels> KernelsOfSession(std::shared_ptr<const Graph> graph,
                                                    const std::shared_ptr<mindspore::Context> &context,
                                                    const std::shared_ptr<const Delegation> &delegation);
}  // namespace mslite

#endif
