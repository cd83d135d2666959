#include "model/sha256.h"

#include <cstring>

namespace mslite {
namespace {
constexpr size_t kBlock = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr std::array<uint32_t, 8> kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

uint32_t Rotate(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

void AddBlock(const uint8_t *block, std::array<uint32_t, 8> *state) {
  uint32_t words[64];
  for (int t = 0; t < 16; ++t) {
    const uint8_t *at = block + 4 * t;
    words[t] = static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 |
               static_cast<uint32_t>(at[2]) << 8 | at[3];
  }
  for (int t = 16; t < 64; ++t) {
    const uint32_t x = words[t - 15];
    const uint32_t y = words[t - 2];
    words[t] = words[t - 16] + (Rotate(x, 7) ^ Rotate(x, 18) ^ x >> 3) + words[t - 7] +
               (Rotate(y, 17) ^ Rotate(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = *state;
  for (int t = 0; t < 64; ++t) {
    const uint32_t first =
        h + (Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25)) + ((e & f) ^ (~e & g)) + kConstants[t] + words[t];
    const uint32_t second = (Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) (*state)[i] += sums[i];
}
}  // namespace

Digest Sha256(const uint8_t *data, size_t size) {
  std::array<uint32_t, 8> state = kStart;
  size_t at = 0;
  for (; size - at >= kBlock; at += kBlock) AddBlock(data + at, &state);
  // The rest of the data, a 1 bit, zeros, and the number of bits at the end of the last block.
  uint8_t rest[2 * kBlock] = {};
  const size_t left = size - at;
  if (left > 0) std::memcpy(rest, data + at, left);
  rest[left] = 0x80;
  const size_t end = left + 9 <= kBlock ? kBlock : 2 * kBlock;
  const uint64_t bits = static_cast<uint64_t>(size) * 8;
  for (size_t i = 0; i < 8; ++i) rest[end - 1 - i] = static_cast<uint8_t>(bits >> 8 * i);
  for (size_t block = 0; block < end; block += kBlock) AddBlock(rest + block, &state);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}
}  // namespace mslite
