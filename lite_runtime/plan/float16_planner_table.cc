// In a separate file, so that no compiler inlines the entry: mslite-crop empties tables.
#include "plan/planner.h"

namespace mslite {
extern "C" const decltype(&Planner::PlanHalf) mslite_part_half[1] = {Planner::PlanHalf};
}  // namespace mslite
