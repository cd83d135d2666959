// The engines of ours that a context asks for. The room delegate/ has them, which knows this one, not the other way
// round.
#ifndef MSLITE_REGISTRY_ENGINES_H
#define MSLITE_REGISTRY_ENGINES_H

#include <memory>
#include <string>
#include <vector>

#include "include/api/delegate.h"

namespace mslite {
// Delegates for a context: the built-in one that it names, then those of its devices, in its order, up to the first
// CPUDeviceInfo without a provider. `missing` gets a line for each that this library has no engine for.
std::vector<std::shared_ptr<mindspore::Delegate>> EnginesOf(mindspore::Context *context,
                                                            std::vector<std::string> *missing);

// The one that finds them, or null in a runtime that was cropped without engines (cropper/crop.py).
using EnginesFunction = decltype(&EnginesOf);
extern "C" const EnginesFunction mslite_engines[1];
}  // namespace mslite

#endif
