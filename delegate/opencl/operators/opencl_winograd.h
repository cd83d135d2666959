// Winograd convolutions.
#ifndef MSLITE_DELEGATE_OPENCL_OPERATORS_OPENCL_WINOGRAD_H
#define MSLITE_DELEGATE_OPENCL_OPERATORS_OPENCL_WINOGRAD_H

#include "convolution/geometry.h"
#include "opencl/operators/families.h"

namespace mslite {
// Returns the tile size with the lowest estimated time, 2 or 4 output pixels; 0 if a direct convolution is faster.
int64_t WinogradTile(const mslite_convolution &g);
void PlanWinograd(const mslite_convolution &g, int64_t tile, OpenClPlan *plan);
}  // namespace mslite

#endif
