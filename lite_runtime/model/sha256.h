// Computes SHA-256 (FIPS 180-4).
#ifndef MSLITE_MODEL_SHA256_H
#define MSLITE_MODEL_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace mslite {
using Digest = std::array<uint8_t, 32>;

Digest Sha256(const uint8_t *data, size_t size);
}  // namespace mslite

#endif
