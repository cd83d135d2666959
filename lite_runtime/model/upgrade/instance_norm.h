// Where the channels of InstanceNorm are.
#ifndef MSLITE_MODEL_UPGRADE_INSTANCE_NORM_H
#define MSLITE_MODEL_UPGRADE_INSTANCE_NORM_H

#include "model/graph.h"

namespace mslite {
// Up to 1.3 channels are dimension 1, and so they are in the current form. Later files mean the last dimension where x
// is an image in NHWC: such nodes become ChannelsLastInstanceNorm. They stay what the file says to kernels of others.
void FindChannelsLast(Graph *graph);
}  // namespace mslite

#endif
