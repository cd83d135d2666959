// Constant orders of dimensions that take images from one layout to the other.
#ifndef MSLITE_MODEL_PERMUTATION_H
#define MSLITE_MODEL_PERMUTATION_H

#include "model/graph.h"

namespace mslite {
// The number of dimensions where `order` is 0, last, 1, 2, ... (channels come first) or 0, 2, ..., last, 1 (they come
// last); 0 for anything else. Of three dimensions both are one.
int32_t ChannelsComeFirst(const Tensor &order);
int32_t ChannelsComeLast(const Tensor &order);
}  // namespace mslite

#endif
