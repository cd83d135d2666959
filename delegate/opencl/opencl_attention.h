// Fused attention: softmax(q k + bias) v without storing the scores in global memory.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_ATTENTION_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_ATTENTION_H

#include <vector>

#include "engine/part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// Fuses a matmul with its epilogue, a softmax along rows that is its only consumer, and a matmul that is the only
// consumer of the softmax to one launch, if the scores of a few rows fit into `local_bytes`, the local memory of a
// work-group. Called after FuseEpilogues.
void FuseAttention(const Part &part, const std::vector<int32_t> &roots, size_t local_bytes,
                   std::vector<OpenClPlan> *plans);
}  // namespace mslite

#endif
