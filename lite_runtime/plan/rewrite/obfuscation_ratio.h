// Sets the factor that undoes the obfuscation of a model's weights.
#ifndef MSLITE_PLAN_REWRITE_OBFUSCATION_RATIO_H
#define MSLITE_PLAN_REWRITE_OBFUSCATION_RATIO_H

#include "model/graph.h"

namespace mslite {
/// MindSpore's training can divide weights by a factor that is not in the file, and add Mul nodes named
/// "...obf_op-obf_mul..." whose constant must be that factor. Gives each of these nodes its own constant with the
/// factor: float32 [1, 1], or the shape of the constant in the file if that has one element, too. Other models are not
/// changed. Errors: kLiteNotSupport if the constant of such a node is not float32; kLiteMemoryFailed.
Status SetObfuscationRatio(float ratio, Graph *graph);
}  // namespace mslite

#endif
