// Memory that held a secret.
#ifndef MSLITE_MODEL_WIPE_H
#define MSLITE_MODEL_WIPE_H

#include <cstddef>
#include <cstring>

namespace mslite {
// Writes zeros over it. The assembler statement, which might read them, keeps compilers from leaving that out.
inline void Wipe(void *data, size_t size) {
  if (size != 0) std::memset(data, 0, size);
  __asm__ __volatile__("" : : "r"(data) : "memory");
}
}  // namespace mslite

#endif
