/* Binary operators on quantized integers of 8 and 16 bits, with broadcasting and a fused clamp, bit-identical to
 * TensorFlow Lite's reference. */
#include "arithmetic/binary_int8.h"
#include "math/fixed_functions.h"
#include "math/float_bits.h"

static int32_t result(const mslite_binary_int8 *n, int32_t value) {
  return mslite_clamp((int32_t)((uint32_t)value + (uint32_t)n->zero_y), n->low, n->high);
}

static int32_t shared_a(const mslite_binary_int8 *n, int32_t p) {
  return mslite_rescale((p - n->zero_a) * (1 << n->left), n->a);
}
static int32_t shared_b(const mslite_binary_int8 *n, int32_t q) {
  return mslite_rescale((q - n->zero_b) * (1 << n->left), n->b);
}

static int32_t add(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  return result(n, mslite_rescale(shared_a(n, p) + shared_b(n, q), n->y));
}

static int32_t sub(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  return result(n, mslite_rescale(shared_a(n, p) - shared_b(n, q), n->y));
}

static int32_t squared(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  const int32_t difference = shared_a(n, p) - shared_b(n, q);
  return result(n, mslite_rescale(difference * difference, n->y));
}

static int32_t mul(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  return result(n, mslite_rescale((p - n->zero_a) * (q - n->zero_b), n->y));
}

/* Divides the quotient by 2^exponent, for any exponent. Beyond 31 the reference's machine shifts by the exponent
 * modulo 32; this function gives the same bits. */
static int32_t shifted_back(int32_t quotient, mslite_multiplier factor) {
  if (factor.shift >= -31) return mslite_rescale(quotient, factor);
  const int32_t product = mslite_doubling_high_product(quotient, factor.value);
  return (product >> (-factor.shift & 31)) + (product >= 0);
}

/* Divides 2^headroom p by q and shifts back. Division by zero gives the limit on that side, as for floats; zero by
 * zero is zero. */
static int32_t divide(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p -= n->zero_a;
  q -= n->zero_b;
  if (q == 0) return p > 0 ? n->high : p < 0 ? n->low : result(n, 0);
  if (q < 0) {
    p = -p;
    q = -q;
  }
  int32_t bits, headroom = 0;
  const int32_t inverse = mslite_fixed_reciprocal(q, 31, &bits);
  for (const int32_t rest = p < 0 ? ~p : p; headroom < 31 && rest < (1 << 30) >> headroom;) ++headroom;
  const int32_t quotient = mslite_doubling_high_product(mslite_shift_left(p, headroom), inverse);
  const mslite_multiplier back = {n->y.value, n->y.shift - bits - headroom};
  return result(n, shifted_back(quotient, back));
}

/* `a` rescales positive x, `b` rescales x times the slope. */
static int32_t prelu(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p -= n->zero_a;
  return result(n, p >= 0 ? mslite_rescale(p, n->a) : mslite_rescale(p * (q - n->zero_b), n->b));
}

static int32_t add_powers(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p = mslite_divide_by_power(p, -n->a.shift) + mslite_divide_by_power(q, -n->b.shift);
  return mslite_clamp(p, n->low, n->high);
}

static int32_t sub_powers(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p = mslite_divide_by_power(p, -n->a.shift) - mslite_divide_by_power(q, -n->b.shift);
  return mslite_clamp(p, n->low, n->high);
}

static float real_number(int32_t q, int32_t zero, mslite_multiplier scale) {
  return (float)(q - zero) * mslite_float_of_bits((uint32_t)scale.value);
}

static int32_t add_even(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  const float sum = real_number(p, n->zero_a, n->a) + real_number(q, n->zero_b, n->b);
  return result(n, mslite_round_even(sum / mslite_float_of_bits((uint32_t)n->y.value)));
}

static int32_t mul_even(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  const float product = real_number(p, n->zero_a, n->a) * real_number(q, n->zero_b, n->b);
  return result(n, mslite_round_even(product / mslite_float_of_bits((uint32_t)n->y.value)));
}

static int32_t computed(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  switch (n->operation) {
    case MSLITE_STORED_ADD:
      return add(n, p, q);
    case MSLITE_STORED_SUB:
      return sub(n, p, q);
    case MSLITE_STORED_MUL:
      return mul(n, p, q);
    case MSLITE_STORED_DIV:
      return divide(n, p, q);
    case MSLITE_STORED_SQUARED:
      return squared(n, p, q);
    case MSLITE_STORED_MAX:
      return p > q ? p : q;
    case MSLITE_STORED_MIN:
      return p < q ? p : q;
    case MSLITE_STORED_PRELU:
      return prelu(n, p, q);
    case MSLITE_STORED_ADD_POWERS:
      return add_powers(n, p, q);
    case MSLITE_STORED_ADD_EVEN:
      return add_even(n, p, q);
    case MSLITE_STORED_MUL_EVEN:
      return mul_even(n, p, q);
    default:
      return sub_powers(n, p, q);
  }
}

static int32_t value_at(const void *data, int32_t size, int64_t at) {
  return size == 1 ? ((const int8_t *)data)[at] : ((const int16_t *)data)[at];
}

static void run_row(const mslite_binary_int8 *n, const void *a, int64_t step_a, const void *b, int64_t step_b, void *y,
                    int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t q = computed(n, value_at(a, n->size, i * step_a), value_at(b, n->size_b, i * step_b));
    if (n->size == 1) {
      ((int8_t *)y)[i] = (int8_t)q;
    } else {
      ((int16_t *)y)[i] = (int16_t)q;
    }
  }
}

mslite_status mslite_prepare_binary_int8(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_binary_int8 *numbers = derived;
  mslite_set_binary_int8(node, numbers);
  mslite_plan_broadcast(node->outputs[0], node->inputs, 2, &numbers->plan, schedule);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_binary_int8 *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    run_row(numbers, (const char *)run->inputs[0] + at.offset[0] * numbers->size, step_a,
            (const char *)run->inputs[1] + at.offset[1] * numbers->size_b, step_b,
            (char *)run->outputs[0] + at.at * numbers->size, n);
}

#define BINARY(operator_)                                       \
  const mslite_kernel mslite_kernel_binary_int8_##operator_ = { \
      .name = "binary_int8_" #operator_ "_scalar",              \
      .op = MSLITE_OP_##operator_,                              \
      .isa = MSLITE_ISA_SCALAR,                                 \
      .derived_size = sizeof(mslite_binary_int8),               \
      .support = mslite_support_binary_int8,                    \
      .prepare = mslite_prepare_binary_int8,                    \
      .run = run_part,                                          \
      .in_place = mslite_broadcast_in_place,                    \
      .quantized = 1,                                           \
  };

BINARY(AddFusion)
BINARY(SubFusion)
BINARY(MulFusion)
BINARY(DivFusion)
BINARY(RealDiv)
BINARY(Eltwise)
BINARY(Maximum)
BINARY(Minimum)
BINARY(SquaredDifference)
BINARY(PReLUFusion)
