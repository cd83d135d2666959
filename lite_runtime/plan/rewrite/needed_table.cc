// A file of its own, so that no compiler takes the entries for granted: mslite-crop empties tables.
#include "plan/rewrite/needed.h"

namespace mslite {
extern "C" const ExpandQuantisedFunction mslite_part_integers[1] = {ExpandQuantised};
extern "C" const ExpandTypesFunction mslite_part_types[1] = {ExpandTypes};
}  // namespace mslite
