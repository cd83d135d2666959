/* Every function of ActivationType on float32 vectors, for Activation itself and for activations fused into others.
 * Include it from `_vector.c` files only. */
#ifndef MSLITE_ACTIVATION_FUNCTIONS_H
#define MSLITE_ACTIVATION_FUNCTIONS_H

#include <float.h>

#include "math/simd_math.h"

/* A function and its numbers, as plain data. */
typedef struct {
  int32_t type; /* MSLITE_ACTIVATION_TYPE_* */
  int32_t approximate;
  float alpha;
  float low;
  float high;
} mslite_activation_numbers;

/* False: there is no such function. RELU's min_val and max_val are not read: old files leave them 0. */
static inline bool activation_numbers_of(int32_t type, float alpha, float min, float max, bool approximate,
                                         mslite_activation_numbers *f) {
  const mslite_activation_numbers plain = {type, approximate, alpha, min, max};
  *f = plain;
  switch (type) {
    case MSLITE_ACTIVATION_TYPE_RELU6:
      f->low = 0.0F;
      f->high = 6.0F;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU1:
      f->low = -1.0F;
      f->high = 1.0F;
      return true;
    case MSLITE_ACTIVATION_TYPE_SELU:
      f->alpha = 1.67326324F;
      f->high = 1.05070099F;
      return true;
    default:
      return type >= MSLITE_ACTIVATION_TYPE_NO_ACTIVATION && type <= MSLITE_ACTIVATION_TYPE_FAST_GELU;
  }
}

/* A fused activation: one that has no numbers of its own. */
static inline bool activation_is_fusable(int32_t type) {
  switch (type) {
    case MSLITE_ACTIVATION_TYPE_ELU:
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
    case MSLITE_ACTIVATION_TYPE_THRESHOLDRELU:
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      return false;
    default:
      return type >= MSLITE_ACTIVATION_TYPE_NO_ACTIVATION && type <= MSLITE_ACTIVATION_TYPE_FAST_GELU;
  }
}

SIMD_INLINE simd_f32 activation_gelu(simd_f32 x) {
  const simd_f32 half = x * simd_set(0.5F);
  return simd_fma(half, math_erf(x * simd_set(0.70710678F)), half);
}

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) */
SIMD_INLINE simd_f32 activation_gelu_tanh(simd_f32 x) {
  const simd_f32 inner = simd_fma(x * x, simd_set(0.0713548163F), simd_set(1.59576912F));
  return x * math_sigmoid(x * inner);
}

/* Limits to [0, 6] and divides by 6. */
SIMD_INLINE simd_f32 activation_hsigmoid(simd_f32 x) {
  return math_clamp(x + simd_set(3.0F), simd_set(0.0F), simd_set(6.0F)) * simd_set(1.0F / 6.0F);
}

SIMD_INLINE simd_f32 activation_sign(simd_f32 x) {
  const simd_f32 zero = simd_set(0.0F), one = simd_set(1.0F);
  const simd_f32 not_positive = simd_select(simd_less(x, zero), -one, x);
  return simd_select(simd_less(zero, x), one, not_positive);
}

/* One loop over n elements; the tail goes through the vector body, so no value depends on where a row begins. */
#define ACTIVATION_LOOP(expression)                      \
  {                                                      \
    int64_t i = 0;                                       \
    for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) {       \
      const simd_f32 v = simd_load(x + i);               \
      simd_store(y + i, expression);                     \
    }                                                    \
    if (i < n) {                                         \
      const int32_t rest = (int32_t)(n - i);             \
      const simd_f32 v = simd_load_partial(x + i, rest); \
      simd_store_partial(y + i, expression, rest);       \
    }                                                    \
  }                                                      \
  break

/* y = f(x) for n elements; y may be x. */
static inline void activation_row(const mslite_activation_numbers *f, const float *x, float *y, int64_t n) {
  const simd_f32 zero = simd_set(0.0F), one = simd_set(1.0F), alpha = simd_set(f->alpha);
  const simd_f32 low = simd_set(f->low), high = simd_set(f->high);
  switch (f->type) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      ACTIVATION_LOOP(simd_max(v, zero));
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      ACTIVATION_LOOP(math_clamp(v, low, high));
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      ACTIVATION_LOOP(math_sigmoid(v));
    case MSLITE_ACTIVATION_TYPE_ELU:
      ACTIVATION_LOOP(simd_select(simd_less(v, zero), alpha * math_expm1(v), v));
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      ACTIVATION_LOOP(simd_select(simd_less(v, zero), alpha * v, v));
    case MSLITE_ACTIVATION_TYPE_ABS:
      ACTIVATION_LOOP(math_abs(v));
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      ACTIVATION_LOOP(v / (one + math_abs(v)));
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      ACTIVATION_LOOP(math_softplus(v));
    case MSLITE_ACTIVATION_TYPE_TANH:
      ACTIVATION_LOOP(math_tanh(v));
    case MSLITE_ACTIVATION_TYPE_SELU: /* high is the outer factor */
      ACTIVATION_LOOP(high * simd_select(simd_less(v, zero), alpha * math_expm1(v), v));
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      ACTIVATION_LOOP(v * activation_hsigmoid(v));
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      ACTIVATION_LOOP(activation_hsigmoid(v));
    case MSLITE_ACTIVATION_TYPE_THRESHOLDRELU:
      ACTIVATION_LOOP(simd_select(simd_less_equal(v, alpha), zero, v));
    case MSLITE_ACTIVATION_TYPE_SIGN:
      ACTIVATION_LOOP(activation_sign(v));
    case MSLITE_ACTIVATION_TYPE_SWISH:
      ACTIVATION_LOOP(v * math_sigmoid(v));
    case MSLITE_ACTIVATION_TYPE_GELU:
      if (f->approximate) {
        ACTIVATION_LOOP(activation_gelu_tanh(v));
      } else {
        ACTIVATION_LOOP(activation_gelu(v));
      }
      break;
    case MSLITE_ACTIVATION_TYPE_FAST_GELU:
      ACTIVATION_LOOP(activation_gelu_tanh(v));
    default: /* NO_ACTIVATION, LINEAR */
      if (x != y) memmove(y, x, (size_t)n * sizeof *y);
      break;
  }
}

#endif
