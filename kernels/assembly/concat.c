/* Concat, Stack, Split and Unstack: they copy pieces of several tensors to or from the rows of one. Concat and Stack
 * also support quantized integers with different quantization parameters, with TensorFlow Lite's reference
 * arithmetic in float32. */
#include <math.h>
#include <string.h>

#include "math/lookup.h"
#include "movement.h"
#include "quantized.h"

/* The joined tensor has `rows` rows, each with a piece of every tensor in order. A part of work is a byte range of
 * it. */
typedef struct {
  int32_t pieces;
  int64_t rows;
  int64_t row_bytes;
  int64_t start[MSLITE_MAX_OPERANDS + 1]; /* where a piece begins in a joined row, in bytes */
} join_derived;

/* Converts a piece to quantization steps of the joined tensor: scale * q + bias; if results round half to even, (q +
 * bias) * scale / divisor, as ONNX's two casts compute it. A scale of 0 means that integers are copied. */
typedef struct {
  float scale, bias, divisor;
} piece_record;

typedef struct {
  join_derived join; /* must be first: `prepare` of the other kernels fills it */
  int64_t part_rows; /* int8: rows per part; 0: parts are byte ranges */
  int32_t type;
  int32_t domain; /* offset between stored integers and those of the source model: 128 for unsigned ones */
  int32_t zero_point, low, high;
  piece_record records[MSLITE_MAX_OPERANDS];
} stored_join;

static mslite_status prepare_join(const mslite_tensor *joined, const mslite_tensor *const *pieces, int32_t count,
                                  int32_t axis, bool new_axis, join_derived *numbers, mslite_schedule *schedule) {
  if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  if (count > MSLITE_MAX_OPERANDS) return MSLITE_ERROR_UNSUPPORTED;
  int64_t inner = mslite_type_size(joined->type);
  numbers->rows = 1;
  numbers->pieces = count;
  for (int32_t i = 0; i < axis; ++i) numbers->rows *= joined->dims[i];
  for (int32_t i = axis + 1; i < joined->rank; ++i) inner *= joined->dims[i];
  numbers->row_bytes = joined->dims[axis] * inner;
  numbers->start[0] = 0;
  for (int32_t i = 0; i < count; ++i) {
    numbers->start[i + 1] = numbers->start[i] + (new_axis ? 1 : pieces[i]->dims[axis]) * inner;
  }
  if (numbers->start[count] != numbers->row_bytes) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = mslite_byte_parts(numbers->rows * numbers->row_bytes);
  return MSLITE_OK;
}

static void requantize(const stored_join *numbers, piece_record record, const void *from, void *to, int64_t bytes) {
  const int64_t size = numbers->type == MSLITE_INT8 ? 1 : 2;
  for (int64_t i = 0; i < bytes / size; ++i) {
    const int32_t q = size == 1 ? ((const int8_t *)from)[i] : ((const int16_t *)from)[i];
    const float nearest = record.divisor > 0 ? rintf(((float)q + record.bias) * record.scale / record.divisor)
                                             : roundf((float)(q + numbers->domain) * record.scale + record.bias);
    const float steps = nearest + (float)numbers->zero_point;
    const float low = (float)numbers->low, high = (float)numbers->high;
    const int32_t value = (int32_t)(steps > low ? steps < high ? steps : high : low); /* NaN (extreme scales): low */
    if (size == 1) {
      ((int8_t *)to)[i] = (int8_t)value;
    } else {
      ((int16_t *)to)[i] = (int16_t)value;
    }
  }
}

/* The result for each int8 value, starting at -128. */
typedef int8_t byte_table[256];

/* Iterates over byte range `part` of the joined tensor and copies between it and the pieces. `stored` (may be NULL)
 * has the quantization parameters of the pieces, `tables` the results for int8. */
static void run_join(const join_derived *numbers, int32_t part, char *joined, const void *const *from, void *const *to,
                     const stored_join *stored, const byte_table *tables) {
  const int64_t total = numbers->rows * numbers->row_bytes;
  int64_t at = (int64_t)part * MSLITE_COPY_PART_BYTES;
  const int64_t end = total - at < MSLITE_COPY_PART_BYTES ? total : at + MSLITE_COPY_PART_BYTES;
  int64_t row = at / numbers->row_bytes;
  int64_t within = at % numbers->row_bytes;
  int32_t piece = 0;
  while (numbers->start[piece + 1] <= within) ++piece;
  while (at < end) {
    const int64_t piece_bytes = numbers->start[piece + 1] - numbers->start[piece];
    const int64_t offset = row * piece_bytes + within - numbers->start[piece];
    int64_t bytes = numbers->start[piece + 1] - within;
    if (bytes > end - at) bytes = end - at;
    const bool changes = bytes > 0 && stored != NULL && stored->records[piece].scale > 0;
    if (changes && tables != NULL) {
      mslite_look_up_bytes(tables[piece], (const int8_t *)from[piece] + offset, 0, (int8_t *)joined + at, 0, 1, bytes);
    } else if (changes) {
      requantize(stored, stored->records[piece], (const char *)from[piece] + offset, joined + at, bytes);
    } else if (bytes > 0 && from != NULL) {
      memcpy(joined + at, (const char *)from[piece] + offset, (size_t)bytes);
    }
    if (bytes > 0 && to != NULL) memcpy((char *)to[piece] + offset, joined + at, (size_t)bytes);
    at += bytes;
    within += bytes;
    if (++piece == numbers->pieces && at < end) {
      piece = 0;
      within = 0;
      ++row;
    }
  }
}

static int32_t join_support(const mslite_node *node) {
  if (mslite_type_size(node->outputs[0]->type) == 0 || node->input_count > MSLITE_MAX_OPERANDS) return 0;
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i]->type != node->outputs[0]->type || !mslite_same_quant(node->inputs[i], node->outputs[0]))
      return 0;
  }
  return 1;
}

static int32_t split_support(const mslite_node *node) {
  if (mslite_type_size(node->inputs[0]->type) == 0 || node->output_count > MSLITE_MAX_OPERANDS) return 0;
  for (int32_t i = 0; i < node->output_count; ++i) {
    if (node->outputs[i]->type != node->inputs[0]->type || !mslite_same_quant(node->outputs[i], node->inputs[0]))
      return 0;
  }
  return 1;
}

static mslite_status concat_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *y = node->outputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_Concat *)node->params)->axis, y->rank);
  return prepare_join(y, node->inputs, node->input_count, axis, false, derived, schedule);
}

static mslite_status stack_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *y = node->outputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_Stack *)node->params)->axis, y->rank);
  return prepare_join(y, node->inputs, node->input_count, axis, true, derived, schedule);
}

static mslite_status split_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_Split *)node->params)->axis, x->rank);
  return prepare_join(x, node->outputs, node->output_count, axis, false, derived, schedule);
}

static mslite_status unstack_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_Unstack *)node->params)->axis, x->rank);
  return prepare_join(x, node->outputs, node->output_count, axis, true, derived, schedule);
}

static void join_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  run_join(run->derived, part, run->outputs[0], run->inputs, NULL, NULL, NULL);
}

/* run_join does not write `joined` here, because there are no sources. */
static void split_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  union {
    const void *read;
    char *joined;
  } input = {.read = run->inputs[0]};
  run_join(run->derived, part, input.joined, NULL, run->outputs, NULL, NULL);
}

static int32_t stored_support(const mslite_node *node) {
  const int32_t type = node->outputs[0]->type;
  if ((type != MSLITE_INT8 && type != MSLITE_INT16) || !mslite_is_quantized(node->outputs[0], type)) return 0;
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (!mslite_is_quantized(node->inputs[i], type)) return 0;
  }
  return node->input_count <= MSLITE_MAX_OPERANDS;
}

static mslite_status stored_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  stored_join *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  const mslite_status status = node->op == MSLITE_OP_Concat ? concat_prepare(node, &numbers->join, schedule)
                                                            : stack_prepare(node, &numbers->join, schedule);
  const mslite_tensor *y = node->outputs[0];
  numbers->type = y->type;
  numbers->domain = y->type == MSLITE_INT8 && y->quant->source_type == MSLITE_UINT8 ? 128 : 0;
  numbers->zero_point = y->quant->zero_point;
  mslite_quantized_limits(y->type, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, y->quant, &numbers->low, &numbers->high);
  for (int32_t i = 0; i < node->input_count; ++i) {
    const mslite_quant *from = node->inputs[i]->quant;
    if (mslite_same_quant(node->inputs[i], y)) continue;
    if (y->quant->rounds_even) {
      const piece_record record = {(float)from->scale, -(float)from->zero_point, (float)y->quant->scale};
      numbers->records[i] = record;
      continue;
    }
    numbers->records[i].scale = (float)from->scale * (1.0f / (float)y->quant->scale);
    numbers->records[i].bias = (float)-(from->zero_point + numbers->domain) * numbers->records[i].scale;
  }
  if (status == MSLITE_OK && y->type == MSLITE_INT8) {
    schedule->phase_count = 2;
    const join_derived *join = &numbers->join;
    numbers->part_rows = join->row_bytes == 0 ? 0 : MSLITE_COPY_PART_BYTES / join->row_bytes;
    const int64_t parts = numbers->part_rows == 0 ? 0 : (join->rows + numbers->part_rows - 1) / numbers->part_rows;
    schedule->part_count[1] = numbers->part_rows == 0 ? schedule->part_count[0] : (int32_t)parts;
    schedule->part_count[0] = node->input_count;
    schedule->shared_bytes = node->input_count * (int64_t)sizeof(byte_table);
  }
  return status;
}

/* Joins the rows of a part, beginning at `first`, piece by piece. */
static void join_rows(const stored_join *numbers, int64_t first, const mslite_run *run, const byte_table *tables) {
  const join_derived *join = &numbers->join;
  const int64_t rows = join->rows - first < numbers->part_rows ? join->rows - first : numbers->part_rows;
  for (int32_t piece = 0; piece < join->pieces; ++piece) {
    const int64_t bytes = join->start[piece + 1] - join->start[piece];
    if (bytes == 0) continue;
    const int8_t *from = (const int8_t *)run->inputs[piece] + first * bytes;
    int8_t *to = (int8_t *)run->outputs[0] + first * join->row_bytes + join->start[piece];
    if (numbers->records[piece].scale > 0) {
      mslite_look_up_bytes(tables[piece], from, bytes, to, join->row_bytes, rows, bytes);
      continue;
    }
    for (int64_t r = 0; r < rows; ++r) memcpy(to + r * join->row_bytes, from + r * bytes, (size_t)bytes);
  }
}

/* For int8, a first phase makes a table for each piece. */
static void stored_run(const mslite_run *run, int32_t phase, int32_t part) {
  const stored_join *numbers = run->derived;
  byte_table *tables = numbers->type == MSLITE_INT8 ? run->shared : NULL;
  if (tables != NULL && phase == 0) {
    byte_table all;
    for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) all[q - INT8_MIN] = (int8_t)q;
    if (numbers->records[part].scale > 0) requantize(numbers, numbers->records[part], all, tables[part], sizeof all);
    return;
  }
  if (numbers->part_rows > 0) {
    join_rows(numbers, part * numbers->part_rows, run, (const byte_table *)tables);
    return;
  }
  run_join(&numbers->join, part, run->outputs[0], run->inputs, NULL, numbers, (const byte_table *)tables);
}

MSLITE_QUANTIZED_KERNEL(concat_int8, Concat, stored_join, stored_support, stored_prepare, stored_run, NULL)
MSLITE_QUANTIZED_KERNEL(stack_int8, Stack, stored_join, stored_support, stored_prepare, stored_run, NULL)
MSLITE_MOVEMENT_KERNEL(concat, Concat, join_derived, join_support, concat_prepare, join_run, NULL)
MSLITE_MOVEMENT_KERNEL(stack, Stack, join_derived, join_support, stack_prepare, join_run, NULL)
MSLITE_MOVEMENT_KERNEL(split, Split, join_derived, split_support, split_prepare, split_run, NULL)
MSLITE_MOVEMENT_KERNEL(unstack, Unstack, join_derived, split_support, unstack_prepare, split_run, NULL)
