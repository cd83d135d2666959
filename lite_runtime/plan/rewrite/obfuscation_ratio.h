// The number that undoes the obfuscation of a model's weights.
#ifndef MSLITE_PLAN_REWRITE_OBFUSCATION_RATIO_H
#define MSLITE_PLAN_REWRITE_OBFUSCATION_RATIO_H

#include "model/graph.h"

namespace mslite {
/// MindSpore's training can divide weights by a number that the file does not say, and add products with a constant,
/// named "...obf_op-obf_mul...", that give it back. Each of those nodes gets a constant of its own with that number:
/// float32 [1, 1], or of the shape that the file's has where that is one element too. Models without such nodes stay as
/// they are. Errors: kLiteNotSupport for such a node whose constant is not of float32; kLiteMemoryFailed.
Status SetObfuscationRatio(float ratio, Graph *graph);
}  // namespace mslite

#endif
