/* Element-wise functions of quantized integers of 8 and 16 bits. 8 bits: a table of all 256 results, computed in
 * `prepare`. 16 bits: a fixed-point formula per element, or linear interpolation between 513 points. The formulas
 * are those of TensorFlow Lite's reference kernels; functions that it does not quantize have tables that are filled
 * in the same way. Results that round half to even, as in ONNX, are computed from the float functions: in tables for
 * 8 bits, per element for 16 bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/lookup.h"
#include "quantized.h"
#include "unary/fixed_unary.h"
#include "unary/real_function.h"
#include "unary/unary_int8.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int32_t type;
  int32_t interpolates;
  int32_t is_exact; /* int16 with the float function */
  float scale_x, scale_y;
  int32_t zero_x, zero_y;
  mslite_float_function function;
  mslite_fixed_unary formula; /* for int16 without `interpolates` */
  union {
    int8_t bytes[MSLITE_LOOKUP_BYTES];
    int16_t steps[MSLITE_LOOKUP_STEPS + 1];
    uint16_t sigmoid[MSLITE_SIGMOID_POINTS];
  } table;
} unary_derived;

static bool is_symmetric(const mslite_node *node) {
  return node->inputs[0]->quant->zero_point == 0 && node->outputs[0]->quant->zero_point == 0;
}

/* Returns whether the function on int16 is interpolated linearly. */
static bool is_interpolated(const mslite_node *node) {
  if (node->op == MSLITE_OP_Activation)
    return ((const mslite_Activation *)node->params)->activation_type == MSLITE_ACTIVATION_TYPE_GELU;
  return node->op == MSLITE_OP_ExpFusion || node->op == MSLITE_OP_Log || node->op == MSLITE_OP_Rsqrt;
}

static bool is_exact(const mslite_node *node) {
  const mslite_tensor *y = node->outputs[0];
  return y->type == MSLITE_INT16 && y->quant->rounds_even;
}

int32_t mslite_stored_unary_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  const int32_t type = y->type;
  mslite_float_function numbers;
  mslite_fixed_unary formula;
  if (node->input_count != 1 || (type != MSLITE_INT8 && type != MSLITE_INT16)) return 0;
  if (!mslite_is_quantized(x, type) || !mslite_is_quantized(y, type)) return 0;
  if (x->quant->zero_point < INT16_MIN || x->quant->zero_point > INT16_MAX) return 0;
  if (y->quant->zero_point < INT16_MIN || y->quant->zero_point > INT16_MAX) return 0;
  if (is_exact(node)) return mslite_float_function_of(node, &numbers);
  if (type == MSLITE_INT16 && !is_symmetric(node)) return 0;
  if (mslite_fixed_unary_of(node, &formula)) return 1;
  return mslite_float_function_of(node, &numbers) && (type == MSLITE_INT8 || is_interpolated(node));
}

mslite_status mslite_fill_stored_unary(const mslite_node *node, int8_t *table) {
  const mslite_quant *x = node->inputs[0]->quant, *y = node->outputs[0]->quant;
  mslite_fixed_unary formula;
  mslite_float_function function;
  if (mslite_fixed_unary_of(node, &formula)) {
    for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
      table[q - INT8_MIN] = (int8_t)mslite_fixed_unary_value(&formula, NULL, q);
    }
    return MSLITE_OK;
  }
  if (!mslite_float_function_of(node, &function)) return MSLITE_ERROR_UNSUPPORTED;
  if (node->op == MSLITE_OP_Log || node->op == MSLITE_OP_Rsqrt) { /* where they are undefined */
    function.low = (float)(INT8_MIN - y->zero_point) * (float)y->scale;
    function.high = (float)(INT8_MAX - y->zero_point) * (float)y->scale;
  }
  mslite_fill_bytes(mslite_float_function_value, &function, (float)x->scale, x->zero_point, (float)y->scale,
                    y->zero_point, y->rounds_even, table);
  return MSLITE_OK;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  const float scale_x = (float)x->quant->scale, scale_y = (float)y->quant->scale;
  const int32_t zero_x = x->quant->zero_point, zero_y = y->quant->zero_point;
  memset(numbers, 0, sizeof *numbers);
  numbers->count = mslite_element_count(y);
  numbers->type = y->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  if (y->type == MSLITE_INT8) return mslite_fill_stored_unary(node, numbers->table.bytes);
  if (is_exact(node)) {
    numbers->is_exact = 1;
    numbers->scale_x = scale_x;
    numbers->scale_y = scale_y;
    numbers->zero_x = zero_x;
    numbers->zero_y = zero_y;
    return mslite_float_function_of(node, &numbers->function) ? MSLITE_OK : MSLITE_ERROR_UNSUPPORTED;
  }
  if (mslite_fixed_unary_of(node, &numbers->formula)) {
    mslite_fill_sigmoid(numbers->table.sigmoid);
    return MSLITE_OK;
  }
  mslite_float_function function;
  if (!mslite_float_function_of(node, &function)) return MSLITE_ERROR_UNSUPPORTED;
  numbers->interpolates = 1;
  if (node->op == MSLITE_OP_Log || node->op == MSLITE_OP_Rsqrt) { /* where they are undefined */
    function.low = (float)(INT16_MIN - zero_y) * scale_y;
    function.high = (float)(INT16_MAX - zero_y) * scale_y;
  }
  mslite_fill_steps(mslite_float_function_value, &function, (double)scale_x, zero_x, (double)scale_y, zero_y, 1,
                    numbers->table.steps);
  return MSLITE_OK;
}

static int16_t exact_value(const unary_derived *n, int32_t q) {
  const float value = (float)mslite_float_function_value(&n->function, (double)(n->scale_x * (float)(q - n->zero_x)));
  const float steps = value / n->scale_y;
  const int32_t result = (steps == steps ? mslite_round_even(steps) : 0) + n->zero_y; /* NaN is treated as zero */
  return (int16_t)mslite_clamp(result, INT16_MIN, INT16_MAX);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const unary_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  if (numbers->type == MSLITE_INT8) {
    const int8_t *x = run->inputs[0];
    mslite_look_up_bytes(numbers->table.bytes, x + begin, 0, (int8_t *)run->outputs[0] + begin, 0, 1, end - begin);
    return;
  }
  const int16_t *x = run->inputs[0];
  int16_t *y = run->outputs[0];
  if (numbers->is_exact) {
    for (int64_t i = begin; i < end; ++i) y[i] = exact_value(numbers, x[i]);
  } else if (numbers->interpolates) {
    for (int64_t i = begin; i < end; ++i) y[i] = (int16_t)mslite_interpolate(numbers->table.steps, x[i]);
  } else {
    for (int64_t i = begin; i < end; ++i)
      y[i] = (int16_t)mslite_fixed_unary_value(&numbers->formula, numbers->table.sigmoid, x[i]);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define UNARY(operator_)                                       \
  const mslite_kernel mslite_kernel_unary_int8_##operator_ = { \
      .name = "unary_int8_" #operator_ "_scalar",              \
      .op = MSLITE_OP_##operator_,                             \
      .isa = MSLITE_ISA_SCALAR,                                \
      .derived_size = sizeof(unary_derived),                   \
      .support = mslite_stored_unary_support,                  \
      .prepare = prepare,                                      \
      .run = run_part,                                         \
      .in_place = in_place,                                    \
      .quantized = 1,                                          \
  };

UNARY(Activation)
UNARY(LeakyRelu)
UNARY(Elu)
UNARY(HardSigmoid)
UNARY(Clip)
UNARY(Abs)
UNARY(Neg)
UNARY(ExpFusion)
UNARY(Log)
UNARY(Sqrt)
UNARY(Rsqrt)
UNARY(Square)
UNARY(Sin)
UNARY(Cos)
UNARY(Erf)
UNARY(Reciprocal)
UNARY(Floor)
UNARY(Ceil)
UNARY(Round)
UNARY(Sign)
