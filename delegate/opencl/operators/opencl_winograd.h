// Winograd's way of computing convolutions.
#ifndef MSLITE_DELEGATE_OPENCL_OPERATORS_OPENCL_WINOGRAD_H
#define MSLITE_DELEGATE_OPENCL_OPERATORS_OPENCL_WINOGRAD_H

#include "convolution/geometry.h"
#include "opencl/operators/families.h"

namespace mslite {
// The tiles of the output, 2 or 4 pixels high and wide, that the convolution is computed in with the least time; 0
// where it takes the least as it is.
int64_t WinogradTile(const mslite_convolution &g);
void PlanWinograd(const mslite_convolution &g, int64_t tile, OpenClPlan *plan);
}  // namespace mslite

#endif
