/* Every function of ActivationType on float32 vectors, for the Activation operator and for fused activations. */
#ifndef MSLITE_ACTIVATION_FUNCTIONS_H
#define MSLITE_ACTIVATION_FUNCTIONS_H

#include <float.h>

#include "math/simd_math.h"

/* A function and its parameters, as plain data. */
typedef struct {
  int32_t type; /* MSLITE_ACTIVATION_TYPE_* */
  int32_t approximate;
  float alpha;
  float low;
  float high;
} mslite_activation_params;

/* Fills `f`. Returns false for an unknown function. min_val and max_val of RELU are not read: old files leave them
 * 0. */
static inline bool activation_params_of(int32_t type, float alpha, float min, float max, bool approximate,
                                        mslite_activation_params *f) {
  const mslite_activation_params plain = {type, approximate, alpha, min, max};
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

/* Returns whether an activation has no parameters, so that it can be fused. */
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

SIMD_INLINE simd_f32 activation_sign(simd_f32 x) {
  /* Compares the bits, because Armv7 vectors treat subnormal values as zero. */
  const simd_i32 not_zero = -simd_as_i32(math_abs(x)) >> 31;
  const simd_f32 y = simd_select(not_zero, math_copysign(simd_set(1.0F), x), x);
  return simd_select(simd_equal(x, x), y, x);
}

/* 1 / (1 + exp(-x)) */
#if SIMD_HALF
/* Error at most 6e-6: exp(r) with four terms on |r| <= ln2 / 2, times a single power of two. Beyond 17, float16 is 0
 * or 1. */
SIMD_INLINE simd_f32 activation_sigmoid(simd_f32 x) {
  const simd_f32 t = math_clamp(x, simd_set(-17.0F), simd_set(17.0F)), one = simd_set(1.0F);
  const simd_f32 magic = simd_set(12582912.0F + 127.0F); /* leaves n plus the exponent bias in the lowest bits */
  const simd_f32 shifted = simd_fma(t, simd_set(-1.44269504F), magic);
  const simd_f32 r = simd_fma(shifted - magic, simd_set(-0.693147181F), -t);
  simd_f32 p = simd_fma(simd_set(0.0419225315F), r, simd_set(0.167543541F));
  p = simd_fma(p, r, simd_set(0.499989399F));
  p = simd_fma(p, r * r, r + one);
  return one / simd_fma(p, simd_as_f32(math_to_exponent(simd_as_i32(shifted))), one);
}
#else
SIMD_INLINE simd_f32 activation_sigmoid(simd_f32 x) { return math_sigmoid(x); }
#endif

#if SIMD_HALF
/* x (1/2 + an odd polynomial that approximates the rest of the normal distribution to 2e-5): error at most 4e-5. */
SIMD_INLINE simd_f32 activation_gelu(simd_f32 x) {
  const simd_f32 t = math_clamp(x, simd_set(-4.2F), simd_set(4.2F)), z = t * t;
  simd_f32 p = simd_set(5.9981332e-11F);
  p = simd_fma(p, z, simd_set(-5.63336053e-09F));
  p = simd_fma(p, z, simd_set(2.34368572e-07F));
  p = simd_fma(p, z, simd_set(-5.76078602e-06F));
  p = simd_fma(p, z, simd_set(9.45745445e-05F));
  p = simd_fma(p, z, simd_set(-0.00111414887F));
  p = simd_fma(p, z, simd_set(0.0098301338F));
  p = simd_fma(p, z, simd_set(-0.0663603697F));
  p = simd_fma(p, z, simd_set(0.398907403F));
  return x * simd_fma(p, t, simd_set(0.5F));
}
#else
SIMD_INLINE simd_f32 activation_gelu(simd_f32 x) {
  const simd_f32 half = x * simd_set(0.5F);
  return simd_fma(half, math_erf(x * simd_set(0.70710678F)), half);
}
#endif

/* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)) */
SIMD_INLINE simd_f32 activation_gelu_tanh(simd_f32 x) {
  const simd_f32 inner = simd_fma(x * x, simd_set(0.0713548163F), simd_set(1.59576912F));
  return x * activation_sigmoid(x * inner);
}

/* Clamps to [0, 6] and divides by 6. */
SIMD_INLINE simd_f32 activation_hsigmoid(simd_f32 x) {
  return math_clamp(x + simd_set(3.0F), simd_set(0.0F), simd_set(6.0F)) * simd_set(1.0F / 6.0F);
}

/* A loop over n elements. The tail uses the vector code, too, so that no result depends on where a row begins. */
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

/* y = f(x) for n elements; y may be x. Defined once per instruction set, in functions_vector.c. */
#define activation_row MSLITE_ISA_NAME(mslite_activation_row)
void activation_row(const mslite_activation_params *f, const simd_real *x, simd_real *y, int64_t n);

#endif
