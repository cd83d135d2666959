// A file of its own, so that no compiler takes the entries for granted: mslite-crop empties tables.
#include "model/decode.h"

namespace mslite {
extern "C" const UnpackFunction mslite_part_unpacking[1] = {UnpackConstant};
extern "C" const DequantizeFunction mslite_part_weights[1] = {DequantizeWeights};
}  // namespace mslite
