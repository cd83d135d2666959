/* Pooling of quantized integers: shared by the kernels of all instruction sets. */
#ifndef MSLITE_POOL_INT8_H
#define MSLITE_POOL_INT8_H

#include "math/fixed_point.h"
#include "pooling/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  mslite_pooling geometry;
  int32_t type;
  int32_t low, high;
  int32_t domain; /* offset between stored integers and those of the source model: 128 for unsigned ones */
  /* The result has other quantization parameters than the input, or is an average that rounds half to even. */
  bool is_rescaled;
  bool rounds_even;
  int32_t from_zero, to_zero;
  double factor; /* of the scales */
} mslite_stored_pool;

int32_t mslite_stored_pool_support(const mslite_node *node);
mslite_status mslite_stored_pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule);

/* Rounds half away from zero. A float64 quotient is exact enough, because both numbers have 32 bits. */
static inline int32_t mslite_rounded_quotient(int32_t sum, int32_t count) {
  const int32_t half = count / 2;
  return (int32_t)((double)(sum > 0 ? sum + half : sum - half) / (double)count);
}

/* Returns the quantized result of one window, from its maximum or its sum minus the zero points. TensorFlow Lite has
 * no such pooling. Two fixed-point roundings would be wrong by one step in a fifth of the results. */
static inline int32_t mslite_stored_pool_rescaled(const mslite_stored_pool *pool, int32_t value, double factor) {
  const int32_t steps =
      pool->rounds_even ? mslite_round_even((float)value * (float)factor) : mslite_rescale_real(value, factor);
  const int64_t stored = (int64_t)steps + pool->to_zero;
  return (int32_t)(stored < pool->low ? pool->low : stored > pool->high ? pool->high : stored);
}

#ifdef __cplusplus
}
#endif

#endif
