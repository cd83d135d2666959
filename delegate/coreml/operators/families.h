// The operators of the Core ML backend: each file of this folder has one family.
#ifndef MSLITE_DELEGATE_COREML_OPERATORS_FAMILIES_H
#define MSLITE_DELEGATE_COREML_OPERATORS_FAMILIES_H

#include "coreml/coreml_plan.h"

namespace mslite {
// Returns the operators of a family. The last entry has no plan.
using CoreMlFamily = const CoreMlOperator *(*)();

const CoreMlOperator *CoreMlElementwise();
const CoreMlOperator *CoreMlMovement();
const CoreMlOperator *CoreMlWindows();

constexpr CoreMlFamily kCoreMlFamilies[] = {CoreMlElementwise, CoreMlMovement, CoreMlWindows};
}  // namespace mslite

#endif
