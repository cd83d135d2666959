/* Binary operators on stored integers of 8 and 16 bits, with broadcasting and a fused clamp: TensorFlow Lite's
 * reference arithmetic to the bit. */
#include <math.h>
#include <string.h>

#include "arithmetic/binary_int8.h"
#include "math/fixed_functions.h"
#include "math/scalar_math.h"
#include "quantised.h"

static int32_t result(const mslite_binary_int8 *n, int32_t value) {
  return mslite_limit((int32_t)((uint32_t)value + (uint32_t)n->zero_y), n->low, n->high);
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

/* value / 2^exponent of the quotient, for any exponent. Beyond 31 the reference's machine shifts by the exponent modulo
 * 32, whatever comes of it; so does this, to the bit. */
static int32_t shifted_back(int32_t quotient, mslite_multiplier factor) {
  if (factor.shift >= -31) return mslite_rescale(quotient, factor);
  const int32_t product = mslite_doubling_high_product(quotient, factor.value);
  return (product >> (-factor.shift & 31)) + (product >= 0);
}

/* The quotient of 2^headroom p and q, then shifted back. Dividing by zero gives the limit on that side, as in real
 * numbers; zero by zero is zero. */
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

/* `a` for positive x, `b` for x times the slope. */
static int32_t prelu(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p -= n->zero_a;
  return result(n, p >= 0 ? mslite_rescale(p, n->a) : mslite_rescale(p * (q - n->zero_b), n->b));
}

static int32_t add_powers(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p = mslite_divide_by_power(p, -n->a.shift) + mslite_divide_by_power(q, -n->b.shift);
  return mslite_limit(p, n->low, n->high);
}

static int32_t sub_powers(const mslite_binary_int8 *n, int32_t p, int32_t q) {
  p = mslite_divide_by_power(p, -n->a.shift) - mslite_divide_by_power(q, -n->b.shift);
  return mslite_limit(p, n->low, n->high);
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

/* The operation of a node and its fused activation. */
static int32_t operation_of(const mslite_node *node, int32_t *activation) {
  *activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  switch (node->op) {
    case MSLITE_OP_AddFusion:
      *activation = ((const mslite_AddFusion *)node->params)->activation_type;
      return MSLITE_STORED_ADD;
    case MSLITE_OP_SubFusion:
      *activation = ((const mslite_SubFusion *)node->params)->activation_type;
      return MSLITE_STORED_SUB;
    case MSLITE_OP_MulFusion:
      *activation = ((const mslite_MulFusion *)node->params)->activation_type;
      return MSLITE_STORED_MUL;
    case MSLITE_OP_DivFusion:
      *activation = ((const mslite_DivFusion *)node->params)->activation_type;
      return MSLITE_STORED_DIV;
    case MSLITE_OP_Eltwise:
      switch (((const mslite_Eltwise *)node->params)->mode) {
        case MSLITE_ELTWISE_MODE_PROD:
          return MSLITE_STORED_MUL;
        case MSLITE_ELTWISE_MODE_SUM:
          return MSLITE_STORED_ADD;
        case MSLITE_ELTWISE_MODE_MAXIMUM:
          return MSLITE_STORED_MAX;
        default:
          return MSLITE_STORED_NONE;
      }
    case MSLITE_OP_RealDiv:
      return MSLITE_STORED_DIV;
    case MSLITE_OP_SquaredDifference:
      return MSLITE_STORED_SQUARED;
    case MSLITE_OP_Maximum:
      return MSLITE_STORED_MAX;
    case MSLITE_OP_Minimum:
      return MSLITE_STORED_MIN;
    default:
      return MSLITE_STORED_PRELU;
  }
}

static bool same_record(const mslite_tensor *a, const mslite_tensor *b) {
  return a->quant[0].scale == b->quant[0].scale && a->quant[0].zero_point == b->quant[0].zero_point;
}

/* Operations that have a form whose results round to even; see set_even. */
static bool rounds_to_even(int32_t operation) {
  return operation == MSLITE_STORED_ADD || operation == MSLITE_STORED_SUB || operation == MSLITE_STORED_MUL;
}

static bool has_zero_in_range(const mslite_tensor *tensor) {
  const int32_t zero = tensor->quant->zero_point;
  return tensor->type == MSLITE_INT8 ? zero >= INT8_MIN && zero <= INT8_MAX : zero >= INT16_MIN && zero <= INT16_MAX;
}

int32_t mslite_support_binary_int8(const mslite_node *node) {
  if (node->input_count != 2) return 0;
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
  int32_t activation, low, high;
  const int32_t operation = operation_of(node, &activation), type = y->type;
  if (operation == MSLITE_STORED_NONE || (type != MSLITE_INT8 && type != MSLITE_INT16)) return 0;
  if (!mslite_is_stored(y, type) || !mslite_is_stored(a, type)) return 0;
  if (!mslite_is_stored(b, type) && !(operation == MSLITE_STORED_PRELU && mslite_is_stored(b, MSLITE_INT8))) return 0;
  if (!mslite_stored_limits(type, activation, y->quant, &low, &high)) return 0;
  if (!has_zero_in_range(a) || !has_zero_in_range(b) || !has_zero_in_range(y)) return 0;
  /* The reference's quotients of small integers are not what other sources mean. */
  if (operation == MSLITE_STORED_DIV && y->quant->rounds_even) return 0;
  /* Values are compared as they are stored. */
  if (operation == MSLITE_STORED_MAX || operation == MSLITE_STORED_MIN) return same_record(a, b) && same_record(a, y);
  const bool symmetric = a->quant->zero_point == 0 && y->quant->zero_point == 0 &&
                         (b->quant->zero_point == 0 || operation == MSLITE_STORED_PRELU);
  if (y->quant->rounds_even && rounds_to_even(operation)) return 1;
  return type == MSLITE_INT8 || (symmetric && operation != MSLITE_STORED_SQUARED);
}

/* The power of two that `scale` is, to within a thousandth of its logarithm. */
static bool power_of(float scale, int32_t *power) {
  const float logarithm = (float)(mslite_log((double)scale) * 1.4426950408889634), nearest = roundf(logarithm);
  *power = (int32_t)nearest;
  return fabsf(logarithm - nearest) < 1e-3F;
}

/* Operands whose scales are powers of two, of which at most one has to be shifted, to the right. */
static bool only_shifts(float a, float b, float y, mslite_binary_int8 *numbers) {
  int32_t power_a, power_b, power_y;
  if (!power_of(a, &power_a) || !power_of(b, &power_b) || !power_of(y, &power_y)) return false;
  numbers->a.shift = power_a - power_y;
  numbers->b.shift = power_b - power_y;
  if (numbers->a.shift > 0 || numbers->b.shift > 0 || numbers->a.shift < -31 || numbers->b.shift < -31) return false;
  return numbers->a.shift == 0 || numbers->b.shift == 0;
}

static void set_shared_scale(mslite_binary_int8 *numbers, float a, float b) {
  const double shared = 2.0 * (double)(a > b ? a : b);
  numbers->a = mslite_make_multiplier((double)a / shared);
  numbers->b = mslite_make_multiplier((double)b / shared);
}

/* False: the operation has no form that rounds to even. */
static bool set_even(mslite_binary_int8 *numbers, float a, float b, float y) {
  switch (numbers->operation) {
    case MSLITE_STORED_SUB:
      b = -b;
      numbers->operation = MSLITE_STORED_ADD_EVEN;
      break;
    case MSLITE_STORED_ADD:
      numbers->operation = MSLITE_STORED_ADD_EVEN;
      break;
    case MSLITE_STORED_MUL:
      numbers->operation = MSLITE_STORED_MUL_EVEN;
      break;
    default:
      return false;
  }
  numbers->a.value = (int32_t)mslite_bits_of_float(a);
  numbers->b.value = (int32_t)mslite_bits_of_float(b);
  numbers->y.value = (int32_t)mslite_bits_of_float(y);
  return true;
}

void mslite_set_binary_int8(const mslite_node *node, mslite_binary_int8 *numbers) {
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
  memset(numbers, 0, sizeof *numbers);
  int32_t activation;
  numbers->operation = operation_of(node, &activation);
  numbers->type = y->type;
  numbers->size = mslite_type_size(y->type);
  numbers->size_b = mslite_type_size(b->type);
  numbers->zero_a = a->quant->zero_point;
  numbers->zero_b = b->quant->zero_point;
  numbers->zero_y = y->quant->zero_point;
  mslite_stored_limits(y->type, activation, y->quant, &numbers->low, &numbers->high);
  /* Scales are multiplied in single precision, as the reference does. */
  const float scale_a = (float)a->quant->scale, scale_b = (float)b->quant->scale, scale_y = (float)y->quant->scale;
  const double shared = 2.0 * (double)(scale_a > scale_b ? scale_a : scale_b);
  if (y->quant->rounds_even && set_even(numbers, scale_a, scale_b, scale_y)) return;
  switch (numbers->operation) {
    case MSLITE_STORED_ADD:
    case MSLITE_STORED_SUB:
      if (y->type == MSLITE_INT16 && only_shifts(scale_a, scale_b, scale_y, numbers)) {
        numbers->operation =
            numbers->operation == MSLITE_STORED_ADD ? MSLITE_STORED_ADD_POWERS : MSLITE_STORED_SUB_POWERS;
        break;
      }
      numbers->left = y->type == MSLITE_INT16 ? 15 : 20;
      set_shared_scale(numbers, scale_a, scale_b);
      numbers->y = mslite_make_multiplier(shared / ((double)(1 << numbers->left) * (double)scale_y));
      break;
    case MSLITE_STORED_SQUARED:
      numbers->left = 7;
      set_shared_scale(numbers, scale_a, scale_b);
      numbers->y = mslite_make_multiplier(shared * shared / ((double)(1 << 14) * (double)scale_y));
      break;
    case MSLITE_STORED_MUL:
      numbers->y = mslite_make_multiplier((double)(scale_a * scale_b / scale_y));
      break;
    case MSLITE_STORED_DIV:
      numbers->y = mslite_make_multiplier((double)(scale_a / (scale_b * scale_y)));
      break;
    case MSLITE_STORED_PRELU:
      numbers->a = mslite_make_multiplier((double)(scale_a / scale_y));
      numbers->b = mslite_make_multiplier((double)(scale_a * scale_b / scale_y));
      break;
    default: /* the integers themselves are compared */
      numbers->zero_a = numbers->zero_b = numbers->zero_y = 0;
      break;
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
      .quantised = 1,                                           \
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
