// The families of operators on OpenCL. Each file of this folder implements one family.
#ifndef MSLITE_DELEGATE_OPENCL_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_OPENCL_OPERATORS_FAMILIES_H

#include "convolution/window.h"
#include "matmul/geometry.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// Returns the operators of a family. The last entry has no plan.
using OpenClFamily = const OpenClOperator *(*)();

const OpenClOperator *OpenClConvolution();
const OpenClOperator *OpenClElementwise();
const OpenClOperator *OpenClIndexing();
const OpenClOperator *OpenClMatmul();
const OpenClOperator *OpenClMovement();
const OpenClOperator *OpenClNormalization();
const OpenClOperator *OpenClPooling();
const OpenClOperator *OpenClReduction();
const OpenClOperator *OpenClResize();

constexpr OpenClFamily kOpenClFamilies[] = {
    OpenClConvolution,   OpenClElementwise, OpenClIndexing,  OpenClMatmul, OpenClMovement,
    OpenClNormalization, OpenClPooling,     OpenClReduction, OpenClResize,
};

// Adds a launch of a batched matmul. `matrices`: for each matrix of y, the indices of its matrices a and b.
OpenClLaunch &LaunchProduct(const mslite_matmul &product, const std::vector<int64_t> &matrices, OpenClOperand a,
                            OpenClOperand b, OpenClOperand bias, OpenClOperand y, OpenClPlan *plan);

// Returns the number of taps inside the input, summed over all positions of an output axis.
int64_t TapsInside(const mslite_axis &axis);
}  // namespace mslite

#endif
