/* FarmHash's 64-bit fingerprint. */
#include "text/fingerprint.h"

#include <stdbool.h>
#include <string.h>

static const uint64_t k0 = 0xc3a5c85c97cb3127U, k1 = 0xb492b66fbe98f273U, k2 = 0x9ae16a3b2f90404fU;

enum { BLOCK = 64, SEED = 81 };

typedef struct {
  uint64_t first, second;
} pair;

static uint64_t turn(uint64_t value, int32_t right) { return value >> right | value << (64 - right); }

static uint64_t mix(uint64_t value) { return value ^ value >> 47; }

static uint64_t word(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t half_word(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t join(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = mix((u ^ v) * factor);
  return mix((v ^ a) * factor) * factor;
}

/* Adds half of a block to the running pair. */
static pair absorb(const uint8_t *key, uint64_t a, uint64_t b) {
  a += word(key);
  b = turn(b + a + word(key + 24), 21);
  const uint64_t c = a;
  a += word(key + 8) + word(key + 16);
  b += turn(a, 44);
  const pair result = {a + word(key + 24), b + c};
  return result;
}

static uint64_t of_many(const uint8_t *key, int64_t length) {
  const int64_t rest = (length - 1) % BLOCK; /* the last block begins here and overlaps the one before */
  const uint8_t *end = key + (length - 1) / BLOCK * BLOCK;
  uint64_t x = SEED * k2 + word(key);
  uint64_t y = SEED * k1 + 113;
  uint64_t z = mix(y * k2 + 113) * k2;
  pair v = {0, 0}, w = {0, 0};
  uint64_t factor = k1;
  for (bool last = false;; key += BLOCK) {
    last = key == end;
    if (last) {
      factor = k1 + ((z & 0xff) << 1);
      key = end + rest - (BLOCK - 1);
      w.first += (uint64_t)rest;
      v.first += w.first;
      w.first += v.first;
    }
    x = turn(x + y + v.first + word(key + 8), 37) * factor;
    y = turn(y + v.second + word(key + 48), 42) * factor;
    x ^= last ? w.second * 9 : w.second;
    y += (last ? v.first * 9 : v.first) + word(key + 40);
    z = turn(z + w.first, 33) * factor;
    v = absorb(key, v.second * factor, x + w.first);
    w = absorb(key + 32, z + w.second, y + word(key + 16));
    const uint64_t other = z;
    z = x;
    x = other;
    if (last) break;
  }
  return join(join(v.first, w.first, factor) + mix(y) * k0 + z, join(v.second, w.second, factor) + x, factor);
}

uint64_t mslite_fingerprint(const uint8_t *key, int64_t length) {
  if (length > 64) return of_many(key, length);
  if (length == 0) return k2;
  if (length < 4) {
    const uint64_t y = key[0] + ((uint64_t)key[length >> 1] << 8);
    const uint64_t z = (uint64_t)length + ((uint64_t)key[length - 1] << 2);
    return mix((y * k2) ^ (z * k0)) * k2;
  }
  const uint64_t factor = k2 + 2 * (uint64_t)length;
  const uint8_t *end = key + length;
  if (length < 8) return join((uint64_t)length + (half_word(key) << 3), half_word(end - 4), factor);
  if (length <= 16) {
    const uint64_t a = word(key) + k2, b = word(end - 8);
    return join(turn(b, 37) * factor + a, (turn(a, 25) + b) * factor, factor);
  }
  const uint64_t a = word(key) * (length <= 32 ? k1 : k2), b = word(key + 8);
  const uint64_t c = word(end - 8) * factor, d = word(end - 16) * k2;
  const uint64_t y = turn(a + b, 43) + turn(c, 30) + d;
  const uint64_t z = join(y, a + turn(b + k2, 18) + c, factor);
  if (length <= 32) return z;
  const uint64_t e = word(key + 16) * factor, f = word(key + 24);
  const uint64_t g = (y + word(end - 32)) * factor, h = (z + word(end - 24)) * factor;
  return join(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, factor);
}
