// Values that are known before the model runs, such as sizes. Backends write them as constants.
#ifndef MSLITE_DELEGATE_ENGINE_KNOWN_VALUES_H
#define MSLITE_DELEGATE_ENGINE_KNOWN_VALUES_H

#include <cstdint>
#include <vector>

#include "kernel.h"

namespace mslite {
// Returns true if the values of all outputs of the node are known and fit into 32 bits.
bool IsKnown(const mslite_node &node);

// Returns the data of such an output in its data type: int32, int64 or bool.
std::vector<uint8_t> KnownContents(const mslite_tensor &tensor);
}  // namespace mslite

#endif
