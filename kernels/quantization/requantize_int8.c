/* QuantDTypeCast from 8-bit to 8-bit or 16-bit integers, per tensor: a table of the 256 results. Same results as
 * quant_dtype_cast.c, which handles all other cases. */
#include "math/fixed_point.h"
#include "movement.h"
#include "quantized.h"

enum { PART_ELEMENTS = 16384, VALUES = 256 };

typedef struct {
  int64_t count;
  int32_t wide; /* 16-bit results */
  int16_t table[VALUES];
} requantize_derived;

static bool is_byte(int32_t type) { return type == MSLITE_INT8 || type == MSLITE_UINT8; }

static int32_t support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  if (!is_byte(x->type) || (!is_byte(y->type) && y->type != MSLITE_INT16)) return 0;
  return x->quant_count == 1 && y->quant_count == 1 ? 2 : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  requantize_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  if (!(x->quant->scale > 0) || !(y->quant->scale > 0)) return MSLITE_ERROR_ATTRIBUTE;
  const mslite_multiplier factor = mslite_make_multiplier(x->quant->scale / y->quant->scale);
  const int64_t low = y->type == MSLITE_UINT8 ? 0 : y->type == MSLITE_INT8 ? INT8_MIN : INT16_MIN;
  const int64_t high = y->type == MSLITE_UINT8 ? UINT8_MAX : y->type == MSLITE_INT8 ? INT8_MAX : INT16_MAX;
  for (int32_t i = 0; i < VALUES; ++i) {
    const int32_t q = x->type == MSLITE_UINT8 ? i : (int8_t)(uint8_t)i;
    const int32_t value = mslite_rescale((int32_t)((uint32_t)q - (uint32_t)x->quant->zero_point), factor);
    const int64_t result =
        y->quant->rounds_even ? mslite_requantize_even(x->quant, y->quant, q) : (int64_t)value + y->quant->zero_point;
    numbers->table[i] = (int16_t)(result < low ? low : result > high ? high : result);
  }
  numbers->count = mslite_element_count(x);
  numbers->wide = y->type == MSLITE_INT16;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const requantize_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  const uint8_t *x = run->inputs[0];
  if (numbers->wide) {
    for (int64_t i = begin; i < end; ++i) ((int16_t *)run->outputs[0])[i] = numbers->table[x[i]];
  } else {
    for (int64_t i = begin; i < end; ++i) ((uint8_t *)run->outputs[0])[i] = (uint8_t)numbers->table[x[i]];
  }
}

MSLITE_MOVEMENT_KERNEL(requantize_int8, QuantDTypeCast, requantize_derived, support, prepare, run_part, NULL)
