// In a separate file, so that no compiler inlines the entries: mslite-crop empties tables.
#include "model/decode.h"

namespace mslite {
extern "C" const UnpackFunction mslite_part_unpacking[1] = {UnpackConstant};
extern "C" const DequantizeFunction mslite_part_weights[1] = {DequantizeWeights};
}  // namespace mslite
