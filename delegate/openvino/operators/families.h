// The families of operators on OpenVINO. Each file of this folder implements one family.
#ifndef MSLITE_DELEGATE_OPENVINO_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_OPENVINO_OPERATORS_FAMILIES_H

#include "openvino/openvino_plan.h"

namespace mslite {
// Returns the operators of a family. The last entry has no plan.
using OpenVinoFamily = const OpenVinoOperator *(*)();

const OpenVinoOperator *OpenVinoConvolution();
const OpenVinoOperator *OpenVinoElementwise();
const OpenVinoOperator *OpenVinoIndexing();
const OpenVinoOperator *OpenVinoMatmul();
const OpenVinoOperator *OpenVinoMovement();
const OpenVinoOperator *OpenVinoNormalization();
const OpenVinoOperator *OpenVinoPooling();
const OpenVinoOperator *OpenVinoRecurrent();
const OpenVinoOperator *OpenVinoReduction();
const OpenVinoOperator *OpenVinoResize();

constexpr OpenVinoFamily kOpenVinoFamilies[] = {
    OpenVinoConvolution,   OpenVinoElementwise, OpenVinoIndexing,  OpenVinoMatmul,    OpenVinoMovement,
    OpenVinoNormalization, OpenVinoPooling,     OpenVinoRecurrent, OpenVinoReduction, OpenVinoResize,
};
}  // namespace mslite

#endif
