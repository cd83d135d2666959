// The magic numbers of encrypted files.
#ifndef MSLITE_MODEL_ENCRYPTION_MAGIC_H
#define MSLITE_MODEL_ENCRYPTION_MAGIC_H

#include <cstddef>
#include <cstdint>

namespace mslite {
// The first four bytes of every block, little-endian. A model cannot begin with them: they would be an offset beyond 2
// GiB.
constexpr uint32_t kMarkAesGcm = 0x7F3A5ED8;
constexpr uint32_t kMarkAesCbc = 0x7F3A5ED9;
constexpr uint32_t kMarkSm4Cbc = 0x7F3A5EDA;

inline uint32_t ReadLittleEndian(const uint8_t *bytes) {
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

// Returns the encryption mode of a file; nullptr if it is not encrypted.
inline const char *EncryptionOf(const uint8_t *data, size_t size) {
  switch (size < 4 ? 0 : ReadLittleEndian(data)) {
    case kMarkAesGcm:
      return "AES-GCM";
    case kMarkAesCbc:
      return "AES-CBC";
    case kMarkSm4Cbc:
      return "SM4-CBC";
    default:
      return nullptr;
  }
}
}  // namespace mslite

#endif
