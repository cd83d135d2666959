// Messages of a library that lacks some operators.
#ifndef MSLITE_MODEL_CROPPING_H
#define MSLITE_MODEL_CROPPING_H

#include <string>

namespace mslite {
// Returns for example "this runtime was cropped for 'a.ms'", from mslite_cropped.
std::string CroppingText();
// Returns what to do for a model that needs more operators.
const char *CroppingRemedy();
}  // namespace mslite

#endif
