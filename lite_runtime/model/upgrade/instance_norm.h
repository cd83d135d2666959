// Upgrades the channel dimension of InstanceNorm.
#ifndef MSLITE_MODEL_UPGRADE_INSTANCE_NORM_H
#define MSLITE_MODEL_UPGRADE_INSTANCE_NORM_H

#include "model/graph.h"

namespace mslite {
// Up to 1.3, as in the current form, the channels are dimension 1. In later files they are the last dimension if x is
// an image in NHWC: such nodes become ChannelsLastInstanceNorm. Registered kernels still see the node in the file.
void FindChannelsLast(Graph *graph);
}  // namespace mslite

#endif
