// The families of operators that run on OpenCL devices: each file of this folder has one.
#ifndef MSLITE_DELEGATE_OPENCL_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_OPENCL_OPERATORS_FAMILIES_H

#include "convolution/window.h"
#include "matmul/geometry.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// The operators of a family, ending with an entry without a plan.
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

// A launch of matrix products. `matrices`: for each one of y, the numbers of its matrices a and b.
OpenClLaunch &LaunchProduct(const mslite_matmul &product, const std::vector<int64_t> &matrices, OpenClOperand a,
                            OpenClOperand b, OpenClOperand bias, OpenClOperand y, OpenClPlan *plan);

// Taps of all positions of an output axis that lie inside the input.
int64_t TapsInside(const mslite_axis &axis);
}  // namespace mslite

#endif
