// Normalizations of images that a file holds between two Transposes.
#ifndef MSLITE_PLAN_REWRITE_CHANNELS_LAST_H
#define MSLITE_PLAN_REWRITE_CHANNELS_LAST_H

#include <functional>

#include "model/graph.h"

namespace mslite {
/// MindSpore Lite's InstanceNorm computes on NCHW, so that files have Transposes around it. The three become one
/// ChannelsLastInstanceNorm where nobody else reads what is between them; activations behind the norm stay behind it.
/// `keeps`: calls that must stay as they are.
void JoinTransposedNorms(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
