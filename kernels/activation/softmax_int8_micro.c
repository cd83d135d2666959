/* Softmax of quantized int8 along the last dimension on microcontrollers. Same arithmetic as
 * activation/softmax_int8.c, but the exponentials are computed, because its tables need 2 KB. */
#include <math.h>

#include "math/fixed_functions.h"
#include "quantized.h"
#include "simd/micro.h"

typedef struct {
  int32_t rows, size;
  int32_t least;       /* smaller differences from the maximum count as -infinity */
  mslite_multiplier x; /* differences to Q5.26 */
  mslite_multiplier y; /* Q0.31 to the output's scale; value 0: 2^-8 */
  int32_t zero_y;
} softmax_derived;

static int64_t axis_of(const mslite_node *node) {
  const mslite_longs axes = ((const mslite_Softmax *)node->params)->axis;
  return axes.count == 0 ? -1 : axes.at[0];
}

static int32_t softmax_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  if (node->input_count != 1 || ((const mslite_Softmax *)node->params)->axis.count > 1) return 0;
  if (!mslite_is_quantized(x, MSLITE_INT8) || !mslite_is_quantized(node->outputs[0], MSLITE_INT8)) return 0;
  const int64_t axis = axis_of(node);
  return axis == -1 || (x->rank > 0 && axis == x->rank - 1) ? 2 : 0;
}

static mslite_status softmax_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  softmax_derived *own = derived;
  const mslite_tensor *x = node->inputs[0];
  const mslite_quant *y = node->outputs[0]->quant;
  const int64_t count = mslite_element_count(x);
  if (x->rank < 1 || count > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  memset(own, 0, sizeof *own);
  own->size = (int32_t)x->dims[x->rank - 1];
  own->rows = own->size == 0 ? 0 : (int32_t)(count / own->size);
  const double factor = (double)(float)x->quant->scale * 67108864.0;
  own->x = mslite_make_multiplier(factor < 2147483647.0 ? factor : 2147483647.0);
  own->least = -(int32_t)floor(31.0 * 67108864.0 / (double)((int64_t)1 << (own->x.shift > 0 ? own->x.shift : 0)));
  own->zero_y = y->zero_point;
  const bool is_plain = y->zero_point == INT8_MIN && y->scale > 0.999 / 256.0 && y->scale < 1.001 / 256.0;
  if (!is_plain) own->y = mslite_make_multiplier(1.0 / (2147483648.0 * y->scale));
  schedule->phase_count = 1;
  schedule->part_count[0] = own->rows;
  return MSLITE_OK;
}

/* Returns exp(difference) in Q0.31. */
MICRO_SHARED int32_t exponential(const softmax_derived *own, int32_t difference) {
  return difference < own->least ? 0 : mslite_fixed_exp(mslite_rescale_twice(difference, own->x));
}

static void softmax_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const softmax_derived *own = run->derived;
  const int8_t *x = (const int8_t *)run->inputs[0] + part * own->size;
  int8_t *y = (int8_t *)run->outputs[0] + part * own->size;
  int32_t most = INT8_MIN, bits;
  for (int32_t i = 0; i < own->size; ++i) most = x[i] > most ? x[i] : most;
  uint32_t sum = 0; /* in Q12.19 */
  for (int32_t i = 0; i < own->size; ++i) sum += (uint32_t)mslite_divide_by_power(exponential(own, x[i] - most), 12);
  const int32_t inverse = mslite_fixed_reciprocal((int32_t)sum, 12, &bits), exponent = bits + 23;
  const mslite_multiplier factor = {own->y.value, own->y.shift - bits};
  for (int32_t i = 0; i < own->size; ++i) {
    const int32_t share = mslite_doubling_high_product(inverse, exponential(own, x[i] - most));
    int32_t q;
    if (factor.value == 0) {
      q = exponent > 31 ? 0 : mslite_divide_by_power(share, exponent < 0 ? 0 : exponent);
    } else {
      q = factor.shift < -31 ? 0 : mslite_rescale_twice(share, factor);
    }
    y[i] = (int8_t)micro_limit_i8(q + own->zero_y);
  }
}

static int64_t softmax_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  (void)derived;
  return input == 0 ? 0 : -1;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_softmax_int8) = {
    .name = MSLITE_ISA_STRING(softmax_int8),
    .op = MSLITE_OP_Softmax,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(softmax_derived),
    .support = softmax_support,
    .prepare = softmax_prepare,
    .run = softmax_run,
    .quantized = 1,
    .lead = softmax_lead,
};
