// The operators of the NNAPI backend: each file of this folder has one family.
#ifndef MSLITE_DELEGATE_NNAPI_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_NNAPI_OPERATORS_FAMILIES_H

#include "nnapi/nnapi_plan.h"

namespace mslite {
// Returns the operators of a family. The last entry has no plan.
using NnapiFamily = const NnapiOperator *(*)();

const NnapiOperator *NnapiConvolution();
const NnapiOperator *NnapiElementwise();
const NnapiOperator *NnapiMatmul();
const NnapiOperator *NnapiMovement();
const NnapiOperator *NnapiNormalization();
const NnapiOperator *NnapiReduction();
const NnapiOperator *NnapiWindows();

constexpr NnapiFamily kNnapiFamilies[] = {
    NnapiConvolution, NnapiElementwise, NnapiMatmul, NnapiMovement, NnapiNormalization, NnapiReduction, NnapiWindows,
};
}  // namespace mslite

#endif
