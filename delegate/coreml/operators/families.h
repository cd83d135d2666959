// The families of operators that run on Core ML: each file of this folder has one.
#ifndef MSLITE_DELEGATE_COREML_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_COREML_OPERATORS_FAMILIES_H

#include "coreml/coreml_plan.h"

namespace mslite {
// The operators of a family, ending with an entry without a plan.
using CoreMlFamily = const CoreMlOperator *(*)();

const CoreMlOperator *CoreMlElementwise();
const CoreMlOperator *CoreMlMovement();
const CoreMlOperator *CoreMlWindows();

constexpr CoreMlFamily kCoreMlFamilies[] = {CoreMlElementwise, CoreMlMovement, CoreMlWindows};
}  // namespace mslite

#endif
