// Recognizes constant permutations that convert images between NCHW and NHWC.
#ifndef MSLITE_MODEL_PERMUTATION_H
#define MSLITE_MODEL_PERMUTATION_H

#include "model/graph.h"

namespace mslite {
// Return the rank if `order` is 0, last, 1, 2, ... (to channels first) or 0, 2, ..., last, 1 (to channels last);
// otherwise 0. With three dimensions both are the same permutation.
int32_t IsToChannelsFirst(const Tensor &order);
int32_t IsToChannelsLast(const Tensor &order);
}  // namespace mslite

#endif
