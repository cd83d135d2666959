#include "activation/functions.h"

void activation_row(const mslite_activation_params *f, const simd_real *x, simd_real *y, int64_t n) {
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
      ACTIVATION_LOOP(activation_sigmoid(v));
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
    case MSLITE_ACTIVATION_TYPE_SELU: /* `high` is the outer factor */
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
      ACTIVATION_LOOP(v * activation_sigmoid(v));
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
