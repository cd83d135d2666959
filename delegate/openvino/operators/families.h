// The families of operators that run on OpenVINO: each file of this folder has one.
#ifndef MSLITE_DELEGATE_OPENVINO_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_OPENVINO_OPERATORS_FAMILIES_H

#include "openvino/openvino_plan.h"

namespace mslite {
// The operators of a family, ending with an entry without a plan.
using OpenVinoFamily = const OpenVinoOperator *(*)();

const OpenVinoOperator *OpenVinoConvolution();
const OpenVinoOperator *OpenVinoElementwise();
const OpenVinoOperator *OpenVinoMatmul();
const OpenVinoOperator *OpenVinoMovement();
const OpenVinoOperator *OpenVinoPooling();

constexpr OpenVinoFamily kOpenVinoFamilies[] = {
    OpenVinoConvolution, OpenVinoElementwise, OpenVinoMatmul, OpenVinoMovement, OpenVinoPooling,
};
}  // namespace mslite

#endif
