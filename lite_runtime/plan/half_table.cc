// A file of its own, so that no compiler takes the entry for granted: mslite-crop empties tables.
#include "plan/planner.h"

namespace mslite {
extern "C" const decltype(&Planner::PlanHalf) mslite_part_half[1] = {Planner::PlanHalf};
}  // namespace mslite
