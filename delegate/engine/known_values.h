// What is known before anything runs, such as sizes: engines write it as constants.
#ifndef MSLITE_DELEGATE_ENGINE_KNOWN_VALUES_H
#define MSLITE_DELEGATE_ENGINE_KNOWN_VALUES_H

#include <cstdint>
#include <vector>

#include "kernel.h"

namespace mslite {
// Whether all that the node gives is known, in numbers of 32 bits, whatever its operator is.
bool IsKnown(const mslite_node &node);

// The contents of such an output, in its own type: int32, int64 or bool.
std::vector<uint8_t> KnownContents(const mslite_tensor &tensor);
}  // namespace mslite

#endif
