/* Random numbers that depend only on a seed and a counter, so that they are independent of the number of threads. */
#ifndef MSLITE_COUNTER_RANDOM_H
#define MSLITE_COUNTER_RANDOM_H

#include <stdint.h>

/* Mixes the 64 bits of a counter by invertible steps: multiplications by odd numbers, and shifts. */
static inline uint64_t mslite_mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

/* Returns 24 random bits. */
static inline uint32_t mslite_random_bits(uint64_t seed, uint64_t counter) {
  return (uint32_t)(mslite_mixed(mslite_mixed(seed) + (counter + 1) * 0x9e3779b97f4a7c15U) >> 40);
}

#endif
