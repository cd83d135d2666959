// Fusion of launches: element-wise operations are computed in the launch that produces their input.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FUSION_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FUSION_H

#include <string>
#include <vector>

#include "engine/part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// If a launch is a formula (OpenClFormula) and the only consumer of another launch, it becomes an epilogue of that
// launch, which then runs in its place. `plans`: the plans of the partition's nodes. `roots`: for each tensor, the
// tensor that has its memory.
void FuseEpilogues(const Part &part, const std::vector<int32_t> &roots, std::vector<OpenClPlan> *plans);

// Returns the definitions of FUSED and FUSED4 for kernels/gpu/common.cl; empty if the launch has no epilogue.
std::string DefineEpilogue(const OpenClLaunch &launch);
}  // namespace mslite

#endif
