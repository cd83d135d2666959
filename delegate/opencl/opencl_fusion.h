// Fusion of launches: element-wise operations are computed in the launch that produces their input.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FUSION_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FUSION_H

#include <string>
#include <vector>

#include "engine/part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// Where a launch of formulas is the only one that reads the result of another launch, it becomes an epilogue of that
// one, which runs in its place then. `plans`: of the part's nodes; `roots`: of each tensor, the one whose memory it
// has.
void FuseEpilogues(const Part &part, const std::vector<int32_t> &roots, std::vector<OpenClPlan> *plans);

// The lines that define FUSED and FUSED4 for kernels/gpu/common.cl; empty where there is no epilogue.
std::string DefineEpilogue(const OpenClLaunch &launch);
}  // namespace mslite

#endif
