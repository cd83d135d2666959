// Wipes memory that held a secret.
#ifndef MSLITE_MODEL_WIPE_H
#define MSLITE_MODEL_WIPE_H

#include <cstddef>
#include <cstring>

namespace mslite {
// Overwrites the memory with zeros. The assembler statement keeps compilers from removing the writes.
inline void Wipe(void *data, size_t size) {
  if (size != 0) std::memset(data, 0, size);
  __asm__ __volatile__("" : : "r"(data) : "memory");
}
}  // namespace mslite

#endif
