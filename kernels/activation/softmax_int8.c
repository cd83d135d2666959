/* Softmax and LogSoftmax of quantized integers along one axis, bit-identical to TensorFlow Lite's reference. Softmax
 * of 8 bits uses a table of fixed-point exponentials of all differences from the row's maximum; results have 8 or 16
 * bits. Softmax of 16 bits interpolates linearly in tables of exp(x) and 1 / (1 + x). LogSoftmax has 8 bits. Softmax
 * of 16 bits that rounds half to even, as in ONNX, computes float exponentials. */
#include <math.h>
#include <string.h>

#include "math/fixed_functions.h"
#include "math/lookup.h"
#include "math/scalar_math.h"
#include "quantized.h"

enum { PART_WORK = 16384, DIFFERENCES = 256 };

typedef struct {
  int64_t rows, per_part, size, inner; /* element c of row r: r / inner * size * inner + c * inner + r % inner */
  int32_t type_x, type_y, logarithm;
  int32_t zero_y, low, high;
  int32_t is_exact;
  double scale_x, scale_y;
  int32_t least;          /* smaller differences from the maximum count as -infinity */
  mslite_multiplier x;    /* differences to Q5.26, or of 16 bits to 10 / 65535 */
  mslite_multiplier y;    /* Q0.31 to the output's scale; value 0: the scale is a power of two */
  mslite_multiplier back; /* LogSoftmax: Q5.26 to differences */
  union {
    struct {
      int32_t exps[DIFFERENCES];  /* exp(-d) in Q0.31, 0 beyond `least` */
      int32_t terms[DIFFERENCES]; /* exp(-d) in Q12.19 */
    } narrow;
    struct {
      int16_t exp[MSLITE_LOOKUP_STEPS + 1];     /* of [-10, 0] */
      int16_t inverse[MSLITE_LOOKUP_STEPS + 1]; /* 1 / (1 + x) of [0, 1] */
    } wide;
  } table;
} softmax_derived;

static int64_t axis_of(const mslite_node *node) {
  if (node->op == MSLITE_OP_LogSoftmax) return ((const mslite_LogSoftmax *)node->params)->axis;
  const mslite_longs axes = ((const mslite_Softmax *)node->params)->axis;
  return axes.count == 0 ? -1 : axes.at[0];
}

static bool is_near(double a, double b) { return a > 0.999 * b && a < 1.001 * b; }

static bool is_exact(const mslite_node *node) {
  return mslite_is_quantized(node->inputs[0], MSLITE_INT16) && mslite_is_quantized(node->outputs[0], MSLITE_INT16) &&
         node->outputs[0]->quant->rounds_even;
}

static int32_t support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  if (node->input_count != 1) return 0;
  if (node->op == MSLITE_OP_LogSoftmax)
    return mslite_is_quantized(x, MSLITE_INT8) && mslite_is_quantized(y, MSLITE_INT8) &&
           y->quant->scale == 16.0 / 256.0 && y->quant->zero_point == INT8_MAX;
  if (((const mslite_Softmax *)node->params)->axis.count > 1) return 0;
  if (mslite_is_quantized(x, MSLITE_INT8) && mslite_is_quantized(y, MSLITE_INT8))
    return y->quant->zero_point >= INT8_MIN && y->quant->zero_point <= INT8_MAX;
  if (mslite_is_quantized(x, MSLITE_INT8)) return mslite_is_quantized(y, MSLITE_INT16);
  if (is_exact(node)) return 1;
  return mslite_is_quantized(x, MSLITE_INT16) && mslite_is_quantized(y, MSLITE_INT16) && x->quant->zero_point == 0 &&
         y->quant->zero_point == 0 && is_near(y->quant->scale, 1.0 / 32768.0);
}

static double exp_of(const void *numbers, double x) {
  (void)numbers;
  return mslite_exp(x);
}

static double inverse_of(const void *numbers, double x) {
  (void)numbers;
  return 1.0 / (1.0 + x);
}

static void prepare_wide(softmax_derived *n, float scale) {
  n->x = mslite_make_multiplier((double)scale / (10.0 / 65535.0));
  mslite_fill_steps(exp_of, NULL, 10.0 / 65535.0, INT16_MAX, 2.0 / 65535.0, 0, 0, n->table.wide.exp);
  mslite_fill_steps(inverse_of, NULL, 1.0 / 65535.0, INT16_MIN, 2.0 / 65535.0, 0, 0, n->table.wide.inverse);
}

static void prepare_bytes(softmax_derived *n, double scale) {
  const double factor = scale * 67108864.0;
  n->x = mslite_make_multiplier(factor < 2147483647.0 ? factor : 2147483647.0);
  n->least = -(int32_t)floor(31.0 * 67108864.0 / (double)((int64_t)1 << (n->x.shift > 0 ? n->x.shift : 0)));
  for (int32_t d = 0; d < DIFFERENCES; ++d) {
    const int32_t value = -d >= n->least ? mslite_fixed_exp(mslite_rescale(-d, n->x)) : 0;
    n->table.narrow.exps[d] = value;
    n->table.narrow.terms[d] = mslite_divide_by_power(value, 12);
  }
  if (n->logarithm) n->back = mslite_make_multiplier((double)((int64_t)1 << (31 - n->x.shift)) / (double)n->x.value);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  softmax_derived *n = derived;
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  const int32_t axis = mslite_normalize_axis(axis_of(node), x->rank);
  if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  memset(n, 0, sizeof *n);
  n->size = x->dims[axis];
  n->rows = n->inner = 1;
  for (int32_t i = 0; i < x->rank; ++i) n->rows *= i == axis ? 1 : x->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) n->inner *= x->dims[i];
  n->type_x = x->type;
  n->type_y = y->type;
  n->logarithm = node->op == MSLITE_OP_LogSoftmax;
  n->zero_y = y->quant->zero_point;
  n->low = y->type == MSLITE_INT8 ? INT8_MIN : INT16_MIN;
  n->high = y->type == MSLITE_INT8 ? INT8_MAX : INT16_MAX;
  n->is_exact = is_exact(node);
  n->scale_x = x->quant->scale;
  n->scale_y = y->quant->scale;
  if (x->type == MSLITE_INT16) {
    prepare_wide(n, (float)x->quant->scale);
  } else {
    prepare_bytes(n, x->quant->scale);
  }
  const bool plain = y->type == MSLITE_INT16 || (n->zero_y == INT8_MIN && is_near(y->quant->scale, 1.0 / 256.0));
  if (!plain) n->y = mslite_make_multiplier(1.0 / (2147483648.0 * y->quant->scale));
  n->per_part = n->size < PART_WORK ? PART_WORK / (n->size + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = n->size == 0 ? 0 : (int32_t)((n->rows + n->per_part - 1) / n->per_part);
  return MSLITE_OK;
}

static int32_t largest_byte(const softmax_derived *n, const int8_t *x) {
  int8_t most = INT8_MIN;
  if (n->inner == 1) { /* contiguous, so that compilers vectorize it */
    for (int64_t c = 0; c < n->size; ++c) most = x[c] > most ? x[c] : most;
  } else {
    for (int64_t c = 0; c < n->size; ++c) most = x[c * n->inner] > most ? x[c * n->inner] : most;
  }
  return most;
}

/* The sum of the row's exponentials in Q12.19. */
static int32_t sum_of_exps(const softmax_derived *n, const int8_t *x, int32_t most) {
  uint32_t sum = 0;
  for (int64_t c = 0; c < n->size; ++c) sum += (uint32_t)n->table.narrow.terms[most - x[c * n->inner]];
  return (int32_t)sum;
}

static void softmax_bytes(const softmax_derived *n, const int8_t *x, void *y) {
  const int32_t most = largest_byte(n, x);
  int32_t bits;
  const int32_t inverse = mslite_fixed_reciprocal(sum_of_exps(n, x, most), 12, &bits);
  const int32_t exponent = bits + 31 - (n->type_y == MSLITE_INT8 ? 8 : 16);
  const mslite_multiplier factor = {n->y.value, n->y.shift - bits};
  for (int64_t c = 0; c < n->size; ++c) {
    const int32_t share = mslite_doubling_high_product(inverse, n->table.narrow.exps[most - x[c * n->inner]]);
    int32_t q;
    if (factor.value == 0) {
      q = (exponent > 31 ? 0 : mslite_divide_by_power(share, exponent < 0 ? 0 : exponent)) + n->low;
    } else {
      q = (factor.shift < -31 ? 0 : mslite_rescale(share, factor)) + n->zero_y;
    }
    q = mslite_clamp(q, n->low, n->high);
    if (n->type_y == MSLITE_INT8) {
      ((int8_t *)y)[c * n->inner] = (int8_t)q;
    } else {
      ((int16_t *)y)[c * n->inner] = (int16_t)q;
    }
  }
}

static void log_softmax_bytes(const softmax_derived *n, const int8_t *x, int8_t *y) {
  const int32_t most = largest_byte(n, x);
  const int32_t logarithm = mslite_fixed_log(sum_of_exps(n, x, most));
  const int32_t end = mslite_rescale(logarithm + INT32_MIN, n->back);
  const int32_t least = n->least - 1 > end ? n->least - 1 : end;
  for (int64_t c = 0; c < n->size; ++c) {
    const int32_t difference = x[c * n->inner] - most;
    int32_t q = INT8_MIN;
    if (difference > least) {
      const int32_t value = (int32_t)((uint32_t)mslite_rescale(difference, n->x) - (uint32_t)logarithm);
      q = mslite_clamp(mslite_divide_by_power(value, 31 - 5 - 4) + n->zero_y, INT8_MIN, INT8_MAX);
    }
    y[c * n->inner] = (int8_t)q;
  }
}

static void softmax_wide(const softmax_derived *n, const int16_t *x, int16_t *y) {
  int32_t most = INT16_MIN;
  for (int64_t c = 0; c < n->size; ++c) most = x[c * n->inner] > most ? x[c * n->inner] : most;
  uint32_t total = 0; /* in Q17.15 */
  for (int64_t c = 0; c < n->size; ++c) {
    const int64_t position = (int64_t)mslite_rescale(x[c * n->inner] - most, n->x) + INT16_MAX;
    const int32_t at = (int32_t)(position < INT16_MIN ? INT16_MIN : position > INT16_MAX ? INT16_MAX : position);
    const int32_t value = mslite_interpolate(n->table.wide.exp, at);
    y[c * n->inner] = (int16_t)value;
    total += (uint32_t)value;
  }
  /* total = 2^(16 - zeros) (1 + t), t in [0, 1) in units of 2^-16 */
  int32_t zeros = 0;
  while (zeros < 31 && (total & ((uint32_t)1 << (31 - zeros))) == 0) ++zeros;
  if (zeros == 0) zeros = 1;
  const int64_t shifted = (((int64_t)total << (zeros - 1)) + (1 << 13)) >> 14;
  const int64_t centered = shifted - ((1 << 15) + (1 << 16));
  const int32_t at = (int32_t)(centered < INT16_MIN ? INT16_MIN : centered > INT16_MAX ? INT16_MAX : centered);
  const int32_t inverse = mslite_interpolate(n->table.wide.inverse, at), right = 31 - zeros;
  const int32_t half = right > 0 ? 1 << (right - 1) : 0;
  for (int64_t c = 0; c < n->size; ++c) {
    const int64_t q = ((int64_t)y[c * n->inner] * inverse + half) >> right;
    y[c * n->inner] = (int16_t)(q < 0 ? 0 : q > INT16_MAX ? INT16_MAX : q);
  }
}

static void softmax_exact(const softmax_derived *n, const int16_t *x, int16_t *y) {
  int32_t most = INT16_MIN;
  for (int64_t c = 0; c < n->size; ++c) most = x[c * n->inner] > most ? x[c * n->inner] : most;
  double sum = 0;
  for (int64_t c = 0; c < n->size; ++c) sum += mslite_exp(n->scale_x * (x[c * n->inner] - most));
  const double factor = 1.0 / (sum * n->scale_y);
  for (int64_t c = 0; c < n->size; ++c) {
    const double steps = mslite_exp(n->scale_x * (x[c * n->inner] - most)) * factor;
    y[c * n->inner] = (int16_t)mslite_clamp(mslite_round_even((float)steps) + n->zero_y, INT16_MIN, INT16_MAX);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const softmax_derived *n = run->derived;
  const int64_t begin = (int64_t)part * n->per_part;
  const int64_t end = n->rows - begin < n->per_part ? n->rows : begin + n->per_part;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t at = r / n->inner * n->size * n->inner + r % n->inner;
    if (n->is_exact) {
      softmax_exact(n, (const int16_t *)run->inputs[0] + at, (int16_t *)run->outputs[0] + at);
    } else if (n->type_x == MSLITE_INT16) {
      softmax_wide(n, (const int16_t *)run->inputs[0] + at, (int16_t *)run->outputs[0] + at);
    } else if (n->logarithm) {
      log_softmax_bytes(n, (const int8_t *)run->inputs[0] + at, (int8_t *)run->outputs[0] + at);
    } else {
      void *y = (char *)run->outputs[0] + at * (n->type_y == MSLITE_INT8 ? 1 : 2);
      softmax_bytes(n, (const int8_t *)run->inputs[0] + at, y);
    }
  }
}

#define SOFTMAX(function, operator_)               \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator_,                 \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(softmax_derived),     \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
      .quantized = 1,                              \
  };

SOFTMAX(softmax_int8, Softmax)
SOFTMAX(log_softmax_int8, LogSoftmax)
