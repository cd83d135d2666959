// The families of operators that run on NNRT: each file of this folder has one.
#ifndef MSLITE_DELEGATE_NNRT_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_NNRT_OPERATORS_FAMILIES_H

#include "nnrt/nnrt_plan.h"

namespace mslite {
// The operators of a family, ending with an entry without a plan.
using NnrtFamily = const NnrtOperator *(*)();

const NnrtOperator *NnrtElementwise();
const NnrtOperator *NnrtMovement();
const NnrtOperator *NnrtRows();
const NnrtOperator *NnrtWindows();

constexpr NnrtFamily kNnrtFamilies[] = {NnrtElementwise, NnrtMovement, NnrtRows, NnrtWindows};
}  // namespace mslite

#endif
