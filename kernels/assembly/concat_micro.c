/* Concat, Stack, Split and Unstack of a few tensors on microcontrollers. The portable kernels store parameters for
 * 64 tensors, which need too much memory. Same arithmetic as assembly/concat.c. */
#include <string.h>

#include "math/nearest_micro.h"
#include "movement.h"
#include "quantized.h"
#include "simd/micro.h"

enum { MAX_PIECES = 8, CODES = 256 };

/* The joined tensor has `rows` rows, each with a piece of every tensor in order; sizes are in bytes. */
typedef struct {
  int32_t rows, row_bytes, pieces;
  int32_t bytes[MAX_PIECES];
} join_derived;

/* Converts integers with other quantization parameters to steps of the joined tensor: scale * q + bias. */
typedef struct {
  join_derived join; /* must be first: `prepare` of the other kernels fills it */
  float scale[MAX_PIECES], bias[MAX_PIECES];
  /* `domain`: offset between stored integers and those of the source model, 128 for unsigned ones. */
  int16_t zero, domain;
  int8_t low, high;
} rescaled_derived;

static bool same_records(const mslite_tensor *const *pieces, int32_t count, const mslite_tensor *joined) {
  if (count > MAX_PIECES || mslite_type_size(joined->type) == 0) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (pieces[i]->type != joined->type || !mslite_same_quant(pieces[i], joined)) return false;
  }
  return true;
}

static int32_t join_support(const mslite_node *node) {
  return same_records(node->inputs, node->input_count, node->outputs[0]) ? 2 : 0;
}

static int32_t split_support(const mslite_node *node) {
  return same_records((const mslite_tensor *const *)node->outputs, node->output_count, node->inputs[0]) ? 2 : 0;
}

static bool is_stored_join(const mslite_node *node) {
  if (node->input_count > MAX_PIECES || !mslite_is_quantized(node->outputs[0], MSLITE_INT8)) return false;
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (!mslite_is_quantized(node->inputs[i], MSLITE_INT8)) return false;
  }
  return true;
}

static int32_t stored_support(const mslite_node *node) { return is_stored_join(node) ? 3 * join_support(node) / 2 : 0; }

static int32_t rescaled_support(const mslite_node *node) { return is_stored_join(node) ? 2 : 0; }

static mslite_status prepare_join(const mslite_tensor *joined, const mslite_tensor *const *pieces, int32_t count,
                                  int32_t axis, bool new_axis, join_derived *own, mslite_schedule *schedule) {
  const int32_t at = mslite_normalize_axis(axis, joined->rank);
  if (at < 0) return MSLITE_ERROR_ATTRIBUTE;
  const int64_t total = mslite_element_count(joined) * mslite_type_size(joined->type);
  if (count > MAX_PIECES || total > INT32_MAX / 16) return MSLITE_ERROR_UNSUPPORTED;
  int64_t inner = mslite_type_size(joined->type), rows = 1, row = 0;
  for (int32_t i = 0; i < at; ++i) rows *= joined->dims[i];
  for (int32_t i = at + 1; i < joined->rank; ++i) inner *= joined->dims[i];
  own->rows = total > 0 ? (int32_t)rows : 0;
  own->row_bytes = (int32_t)(joined->dims[at] * inner);
  own->pieces = count;
  for (int32_t i = 0; i < count; ++i) {
    own->bytes[i] = (int32_t)((new_axis ? 1 : pieces[i]->dims[at]) * inner);
    row += own->bytes[i];
  }
  if (row != own->row_bytes) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static mslite_status join_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const bool is_stack = node->op == MSLITE_OP_Stack;
  const int32_t axis =
      (int32_t)(is_stack ? ((const mslite_Stack *)node->params)->axis : ((const mslite_Concat *)node->params)->axis);
  return prepare_join(node->outputs[0], node->inputs, node->input_count, axis, is_stack, derived, schedule);
}

static mslite_status split_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const bool is_unstack = node->op == MSLITE_OP_Unstack;
  const int32_t axis =
      (int32_t)(is_unstack ? ((const mslite_Unstack *)node->params)->axis : ((const mslite_Split *)node->params)->axis);
  return prepare_join(node->inputs[0], (const mslite_tensor *const *)node->outputs, node->output_count, axis,
                      is_unstack, derived, schedule);
}

static mslite_status rescaled_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  rescaled_derived *own = derived;
  memset(own, 0, sizeof *own);
  const mslite_status status = join_prepare(node, &own->join, schedule);
  if (status != MSLITE_OK) return status;
  const mslite_tensor *y = node->outputs[0];
  int32_t low, high;
  mslite_quantized_limits(y->type, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, y->quant, &low, &high);
  own->low = (int8_t)low;
  own->high = (int8_t)high;
  own->zero = (int16_t)y->quant->zero_point;
  own->domain = y->quant->source_type == MSLITE_UINT8 ? 128 : 0;
  for (int32_t i = 0; i < node->input_count; ++i) {
    const mslite_quant *from = node->inputs[i]->quant;
    if (mslite_same_quant(node->inputs[i], y)) continue;
    own->scale[i] = (float)from->scale * (1.0f / (float)y->quant->scale);
    own->bias[i] = (float)-(from->zero_point + own->domain) * own->scale[i];
  }
  schedule->scratch_bytes = CODES;
  return MSLITE_OK;
}

/* Copies rows of `bytes` bytes; rows are `from_step` and `to_step` bytes apart. */
static void move_rows(const char *from, int32_t from_step, char *to, int32_t to_step, int32_t bytes, int32_t rows) {
  for (; rows > 0; --rows, from += from_step, to += to_step) memcpy(to, from, (size_t)bytes);
}

static void join_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const join_derived *own = run->derived;
  char *y = run->outputs[0];
  for (int32_t i = 0; i < own->pieces; y += own->bytes[i++]) {
    move_rows(run->inputs[i], own->bytes[i], y, own->row_bytes, own->bytes[i], own->rows);
  }
}

static void split_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const join_derived *own = run->derived;
  const char *x = run->inputs[0];
  for (int32_t i = 0; i < own->pieces; x += own->bytes[i++]) {
    move_rows(x, own->row_bytes, run->outputs[i], own->bytes[i], own->bytes[i], own->rows);
  }
}

/* Makes the table of results for each integer of a piece, starting at -128. */
static void make_table(const rescaled_derived *own, int32_t piece, int8_t *table) {
  for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
    int32_t value = q;
    if (own->scale[piece] > 0.0F) {
      const float steps = (float)(q + own->domain) * own->scale[piece] + own->bias[piece];
      value = mslite_clamp(micro_nearest(micro_bounded(steps)) + own->zero, own->low, own->high);
    }
    *table++ = (int8_t)value;
  }
}

static void rescaled_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const rescaled_derived *own = run->derived;
  const int32_t step = own->join.row_bytes;
  int8_t *table = run->scratch;
  int8_t *y = run->outputs[0];
  for (int32_t i = 0; i < own->join.pieces; ++i) {
    const int8_t *x = run->inputs[i];
    const int32_t bytes = own->join.bytes[i];
    make_table(own, i, table);
    int8_t *to = y;
    for (int32_t row = own->join.rows; row > 0; --row, to += step - bytes) {
      for (int32_t k = bytes; k > 0; --k) *to++ = table[*x++ - INT8_MIN];
    }
    y += bytes;
  }
}

#define KERNEL_OF(kernel, operator, derived, way, preparation, function, is_quantized) \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##kernel) = {                      \
      .name = MSLITE_ISA_STRING(kernel),                                               \
      .op = MSLITE_OP_##operator,                                                      \
      .isa = MSLITE_THIS_ISA,                                                          \
      .derived_size = sizeof(derived),                                                 \
      .support = way##_support,                                                        \
      .prepare = preparation,                                                          \
      .run = function##_run,                                                           \
      .quantized = is_quantized,                                                       \
  };

KERNEL_OF(concat, Concat, join_derived, join, join_prepare, join, 0)
KERNEL_OF(stack, Stack, join_derived, join, join_prepare, join, 0)
KERNEL_OF(split, Split, join_derived, split, split_prepare, split, 0)
KERNEL_OF(unstack, Unstack, join_derived, split, split_prepare, split, 0)
KERNEL_OF(concat_int8, Concat, join_derived, stored, join_prepare, join, 1)
KERNEL_OF(stack_int8, Stack, join_derived, stored, join_prepare, join, 1)
KERNEL_OF(concat_rescaled_int8, Concat, rescaled_derived, rescaled, rescaled_prepare, rescaled, 1)
KERNEL_OF(stack_rescaled_int8, Stack, rescaled_derived, rescaled, rescaled_prepare, rescaled, 1)
