// What is said of a library that has not all operators.
#ifndef MSLITE_MODEL_CROPPING_H
#define MSLITE_MODEL_CROPPING_H

#include <string>

namespace mslite {
// "this runtime was cropped for 'a.ms'": what mslite_cropped says of this library.
std::string CroppingText();
// What to do for a model that needs more.
const char *CroppingRemedy();
}  // namespace mslite

#endif
