// Checks a shared object before it is loaded.
#ifndef MSLITE_MODEL_SHARED_OBJECT_H
#define MSLITE_MODEL_SHARED_OBJECT_H

#include <string>

namespace mslite {
// Returns whether a segment of an ELF file extends beyond the end of the file: reading it would end the process.
// Returns false for files that are not ELF, which dlopen reports.
bool IsTruncatedElf(const std::string &path);
}  // namespace mslite

#endif
