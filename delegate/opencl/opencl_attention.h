// Attention: softmax(q k + what is added to it) v, as transformers compute it, without its scores in memory.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_ATTENTION_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_ATTENTION_H

#include <vector>

#include "engine/part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// Where a matrix product, with its epilogue, is read by a softmax along its rows alone, and that by a matrix product
// alone, one launch stands for the three, if the scores of a few rows fit into the `local_bytes` that a group of the
// device has. Behind FuseEpilogues.
void FuseAttention(const Part &part, const std::vector<int32_t> &roots, size_t local_bytes,
                   std::vector<OpenClPlan> *plans);
}  // namespace mslite

#endif
