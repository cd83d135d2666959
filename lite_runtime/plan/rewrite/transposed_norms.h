// Removes the Transposes around normalizations of images.
#ifndef MSLITE_PLAN_REWRITE_TRANSPOSED_NORMS_H
#define MSLITE_PLAN_REWRITE_TRANSPOSED_NORMS_H

#include <functional>

#include "model/graph.h"

namespace mslite {
/// MindSpore Lite's InstanceNorm computes on NCHW, so files have Transposes around it. Replaces the three nodes by one
/// ChannelsLastInstanceNorm if no other node reads the tensors in between. Activations after the norm stay after it.
/// `keeps` returns true for nodes that must not change.
void FuseTransposedNorms(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
