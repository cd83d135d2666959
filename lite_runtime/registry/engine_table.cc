// A file of its own, so that no compiler takes the entry for granted: mslite-crop empties it.
#include "registry/engines.h"

namespace mslite {
extern "C" const EnginesFunction mslite_engines[1] = {EnginesOf};
}  // namespace mslite
