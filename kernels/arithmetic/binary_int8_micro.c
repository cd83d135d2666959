/* Add, Sub and Mul of quantized int8 on microcontrollers. An operand has the output's shape, its last dimensions, or
 * one element. Same arithmetic as arithmetic/binary_int8.c. */
#include "arithmetic/binary_int8.h"
#include "simd/micro.h"
#if MICRO_MVE
#include "simd/micro_mve.h"
#endif

/* An operand: (q - zero) * 2^left is rescaled in the same way as a convolution's sum. */
typedef struct {
  int32_t multiplier;
  int32_t period; /* elements after which it repeats */
  int16_t zero;
  int8_t left, shift;
} operand;

typedef struct {
  operand a, b;
  int32_t count;
  int32_t multiplier;
  int16_t nudge; /* 2 * zero point of y + 1 */
  int8_t shift;
  int8_t is_product, is_difference;
  int8_t low, high, is_limited;
} binary_derived;

/* Returns the number of elements after which `tensor` repeats in an output of these dimensions; 0 if it does not
 * broadcast so. */
static int64_t period_of(const mslite_tensor *tensor, const mslite_tensor *output) {
  int32_t rank = tensor->rank, first = 0;
  while (first < rank && tensor->dims[first] == 1) ++first;
  if (rank - first > output->rank) return 0;
  int64_t period = 1;
  for (int32_t i = first; i < rank; ++i) {
    if (tensor->dims[i] != output->dims[output->rank - rank + i]) return 0;
    period *= tensor->dims[i];
  }
  return period;
}

static bool is_known(const mslite_tensor *tensor) {
  if (tensor->rank < 0) return false;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (mslite_is_symbol(tensor->dims[i])) return false;
  }
  return true;
}

/* Sets an operand that is rescaled. A factor of 1/2 is stored as 1/4 with one more bit of `left`, so that the shift
 * is never 0. */
static bool set_operand(operand *to, mslite_multiplier factor, int32_t left) {
  to->multiplier = factor.value;
  to->left = (int8_t)left;
  if (factor.shift == 0 && factor.value == 1 << 30) {
    ++to->left;
    to->shift = 0;
    return true;
  }
  to->shift = (int8_t)(factor.value == 0 ? 0 : -1 - factor.shift);
  return factor.value == 0 || (factor.shift < 0 && factor.shift >= -30);
}

static bool set_numbers(const mslite_node *node, binary_derived *own) {
  if (mslite_support_binary_int8(node) == 0 || node->outputs[0]->type != MSLITE_INT8) return false;
  mslite_binary_int8 numbers;
  mslite_set_binary_int8(node, &numbers);
  memset(own, 0, sizeof *own);
  own->a.zero = (int16_t)numbers.zero_a;
  own->b.zero = (int16_t)numbers.zero_b;
  own->nudge = (int16_t)(2 * numbers.zero_y + 1);
  own->low = (int8_t)numbers.low;
  own->high = (int8_t)numbers.high;
  own->is_limited = numbers.low > INT8_MIN || numbers.high < INT8_MAX;
  own->multiplier = numbers.y.value;
  own->shift = (int8_t)(numbers.y.value == 0 ? 0 : -1 - numbers.y.shift);
  if (numbers.y.value != 0 && (numbers.y.shift >= 0 || numbers.y.shift < -30)) return false;
  own->is_product = numbers.operation == MSLITE_STORED_MUL;
  own->is_difference = numbers.operation == MSLITE_STORED_SUB;
  if (own->is_product) return true;
  if (numbers.operation != MSLITE_STORED_ADD && numbers.operation != MSLITE_STORED_SUB) return false;
  return set_operand(&own->a, numbers.a, numbers.left) && set_operand(&own->b, numbers.b, numbers.left);
}

static int32_t binary_support(const mslite_node *node) {
  binary_derived own;
  if (node->input_count != 2 || !set_numbers(node, &own)) return 0;
  const mslite_tensor *y = node->outputs[0];
  if (!is_known(node->inputs[0]) || !is_known(node->inputs[1]) || !is_known(y)) return 2;
  return period_of(node->inputs[0], y) > 0 && period_of(node->inputs[1], y) > 0 ? 2 : 0;
}

static mslite_status binary_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  binary_derived *own = derived;
  if (!set_numbers(node, own)) return MSLITE_ERROR_UNSUPPORTED;
  const mslite_tensor *y = node->outputs[0];
  const int64_t count = mslite_element_count(y);
  const int64_t a = period_of(node->inputs[0], y), b = period_of(node->inputs[1], y);
  if (count > INT32_MAX || a == 0 || b == 0) return MSLITE_ERROR_UNSUPPORTED;
  own->count = (int32_t)count;
  own->a.period = (int32_t)a;
  own->b.period = (int32_t)b;
  schedule->phase_count = 1;
  schedule->part_count[0] = count > 0;
  return MSLITE_OK;
}

/* ---- run ---- */

#if MICRO_MVE

/* Subtracts the zero point and rescales to the common scale. */
MICRO_INLINE micro_i32x4 shared_lanes(const operand *of, micro_i32x4 q) {
  const micro_i32x4 value = micro_multiply_number(micro_add_number(q, -of->zero), (int32_t)1 << of->left);
  return micro_steps_by(value, of->multiplier, of->shift);
}

MICRO_INLINE micro_i32x4 result_lanes(const binary_derived *own, micro_i32x4 p, micro_i32x4 q) {
  micro_i32x4 value;
  if (own->is_product) {
    value = micro_multiply_i32x4(micro_add_number(p, -own->a.zero), micro_add_number(q, -own->b.zero));
  } else {
    const micro_i32x4 left = shared_lanes(&own->a, p), right = shared_lanes(&own->b, q);
    value = own->is_difference ? micro_subtract_i32x4(left, right) : micro_add_i32x4(left, right);
  }
  value = micro_add_number(micro_steps_by(value, own->multiplier, own->shift), own->nudge >> 1);
  return micro_min_i32x4(micro_max_i32x4(value, micro_set_i32x4(own->low)), micro_set_i32x4(own->high));
}

MICRO_SHARED void run_row(const binary_derived *own, const int8_t *a, int32_t step_a, const int8_t *b, int32_t step_b,
                          int8_t *y, int32_t count) {
  /* Operands with one element do not change. */
  micro_i32x4 p = micro_set_i32x4(*a), q = micro_set_i32x4(*b);
  for (; count >= 4; count -= 4, y += 4) {
    if (step_a != 0) p = micro_load_bytes(a);
    if (step_b != 0) q = micro_load_bytes(b);
    a += 4 * step_a;
    b += 4 * step_b;
    micro_store_bytes(y, result_lanes(own, p, q));
  }
  if (count > 0) {
    if (step_a != 0) p = micro_load_first_bytes(a, count);
    if (step_b != 0) q = micro_load_first_bytes(b, count);
    micro_store_first_bytes(y, result_lanes(own, p, q), count);
  }
}

#else

MICRO_INLINE int32_t shared(const operand *of, int32_t q) {
  return (micro_rescale_twice((q - of->zero) * (1 << of->left), of->multiplier, of->shift) + 1) >> 1;
}

MICRO_SHARED void run_row(const binary_derived *own, const int8_t *a, int32_t step_a, const int8_t *b, int32_t step_b,
                          int8_t *y, int32_t count) {
  /* Local copies, because y may alias the struct for the compiler. */
  const operand first = own->a, second = own->b;
  const int32_t multiplier = own->multiplier, shift = own->shift, nudge = own->nudge;
  const int8_t *const end = y + count;
  if (own->is_product) {
    for (; y != end; a += step_a, b += step_b) {
      const int32_t value = (*a - first.zero) * (*b - second.zero);
      *y++ = (int8_t)micro_requantized(micro_rescale_twice(value, multiplier, shift), nudge);
    }
  } else {
    const int32_t sign = own->is_difference ? -1 : 1;
    for (; y != end; a += step_a, b += step_b) {
      const int32_t value = shared(&first, *a) + sign * shared(&second, *b);
      *y++ = (int8_t)micro_requantized(micro_rescale_twice(value, multiplier, shift), nudge);
    }
  }
  if (own->is_limited) {
    for (y -= count; y != end; ++y) *y = (int8_t)mslite_clamp(*y, own->low, own->high);
  }
}

#endif

static void binary_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const binary_derived *own = run->derived;
  const int8_t *const a = run->inputs[0], *const b = run->inputs[1];
  int8_t *y = run->outputs[0];
  const int32_t step_a = own->a.period > 1, step_b = own->b.period > 1;
  int32_t period = own->count;
  if (step_a && own->a.period < period) period = own->a.period;
  if (step_b && own->b.period < period) period = own->b.period;
  for (int32_t i = 0, in_a = 0, in_b = 0; i < own->count; i += period) {
    run_row(own, a + in_a, step_a, b + in_b, step_b, y + i, period);
    in_a += step_a * period;
    in_b += step_b * period;
    if (in_a == own->a.period) in_a = 0;
    if (in_b == own->b.period) in_b = 0;
  }
}

static int64_t binary_lead(const mslite_node *node, const void *derived, int32_t input) {
  const binary_derived *own = derived;
  (void)node;
  return (input == 0 ? own->a.period : own->b.period) == own->count ? 0 : -1;
}

#define BINARY(function, operator_)                                 \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(binary_derived),                       \
      .support = binary_support,                                    \
      .prepare = binary_prepare,                                    \
      .run = binary_run,                                            \
      .quantized = 1,                                               \
      .lead = binary_lead,                                          \
  };

BINARY(add_int8, AddFusion)
BINARY(subtract_int8, SubFusion)
BINARY(multiply_int8, MulFusion)
