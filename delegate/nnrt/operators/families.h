// The operators of the NNRT backend: each file of this folder has one family.
#ifndef MSLITE_DELEGATE_NNRT_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_NNRT_OPERATORS_FAMILIES_H

#include "nnrt/nnrt_plan.h"

namespace mslite {
// Returns the operators of a family. The last entry has no plan.
using NnrtFamily = const NnrtOperator *(*)();

const NnrtOperator *NnrtElementwise();
const NnrtOperator *NnrtMovement();
const NnrtOperator *NnrtRows();
const NnrtOperator *NnrtWindows();

constexpr NnrtFamily kNnrtFamilies[] = {NnrtElementwise, NnrtMovement, NnrtRows, NnrtWindows};
}  // namespace mslite

#endif
