// What is looked at before a shared object is loaded.
#ifndef MSLITE_MODEL_SHARED_OBJECT_H
#define MSLITE_MODEL_SHARED_OBJECT_H

#include <string>

namespace mslite {
// Whether a segment of an ELF file lies beyond its end: touching it would end the process. False for what is no such
// file, of which the linker says what it is.
bool IsCutOff(const std::string &path);
}  // namespace mslite

#endif
