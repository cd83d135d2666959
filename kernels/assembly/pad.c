/* PadFusion and PadExtend on elements of any type. Rows run along the last padded dimension; inner dimensions are
 * copied as one unit. */
#include <math.h>
#include <string.h>

#include "known_values.h"
#include "movement.h"
#include "quantized.h"

enum { PAD_EDGE = 100, PAD_WRAP = 101 }; /* in addition to MSLITE_PADDING_MODE_* */

typedef struct {
  int32_t mode;
  int32_t rank; /* number of dimensions up to the last padded one */
  int64_t unit_bytes;
  int64_t in[MSLITE_MAX_RANK];
  int64_t out[MSLITE_MAX_RANK];
  /* Negative padding crops first: the rest of a dimension begins at `first` and is padded by `before`. */
  int64_t first[MSLITE_MAX_RANK];
  int64_t kept[MSLITE_MAX_RANK];
  int64_t before[MSLITE_MAX_RANK];
  int64_t rows;
  int64_t rows_per_part;
  int32_t element_size;
  int32_t value_input; /* the fill value is input 2 */
  uint8_t value[16];
} pad_derived;

/* Returns the index among `size` elements that padded index `at` (from -before on) copies; -1 for the fill value. */
static int64_t source_index(int32_t mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  int64_t period = size;
  switch (mode) {
    case MSLITE_PADDING_MODE_REFLECT:
      if (size == 1) return 0;
      period = 2 * (size - 1);
      at = (at % period + period) % period;
      return at < size ? at : period - at;
    case MSLITE_PADDING_MODE_SYMMETRIC:
      period = 2 * size;
      at = (at % period + period) % period;
      return at < size ? at : period - 1 - at;
    case PAD_WRAP:
      return (at % period + period) % period;
    case PAD_EDGE:
      return at < 0 ? 0 : size - 1;
    default:
      return -1;
  }
}

static uint16_t half_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const float magnitude = fabsf(value);
  if (!(magnitude < 65520.0f)) return (uint16_t)(sign | (magnitude > 0 ? 0x7c00u : 0x7e00u));
  if (magnitude < 6.103515625e-05f) return (uint16_t)(sign | (uint32_t)lrintf(magnitude * 16777216.0f));
  const uint32_t rounded = (bits & 0x7fffffffu) + 0xfffu + (bits >> 13 & 1u);
  return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}

/* Rounds towards zero. Values beyond int64 give the nearest limit, NaN gives 0. */
static int64_t whole_of(float value) {
  if (value != value) return 0;
  if (value >= 9223372036854775808.0F) return INT64_MAX;
  return value <= -9223372036854775808.0F ? INT64_MIN : (int64_t)value;
}

static void store_value(float value, int32_t type, uint8_t *bytes) {
  const int64_t whole = whole_of(value);
  const double wide = (double)value;
  const uint16_t half = half_bits(value);
  switch (type) {
    case MSLITE_FLOAT32:
      memcpy(bytes, &value, 4);
      break;
    case MSLITE_FLOAT64:
      memcpy(bytes, &wide, 8);
      break;
    case MSLITE_FLOAT16:
      memcpy(bytes, &half, 2);
      break;
    case MSLITE_BOOL:
      bytes[0] = value != 0;
      break;
    default:
      memcpy(bytes, &whole, 8); /* little-endian: a shorter integer is in the low bytes */
  }
}

/* Quantizes `value` with the quantization parameters of `x`. */
static float stored_value(float value, const mslite_tensor *x) {
  const double steps = round((double)value / x->quant->scale) + x->quant->zero_point;
  const double low = x->type == MSLITE_INT8 ? INT8_MIN : INT16_MIN,
               high = x->type == MSLITE_INT8 ? INT8_MAX : INT16_MAX;
  return (float)(steps < low ? low : steps > high ? high : steps);
}

static mslite_status prepare_pads(const mslite_node *node, const int64_t *pads, pad_derived *numbers,
                                  mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  numbers->element_size = mslite_type_size(x->type);
  numbers->unit_bytes = numbers->element_size;
  numbers->rank = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (y->dims[i] != x->dims[i] + pads[2 * i] + pads[2 * i + 1]) return MSLITE_ERROR_SHAPE;
    if (pads[2 * i] != 0 || pads[2 * i + 1] != 0) numbers->rank = i + 1;
    numbers->in[i] = x->dims[i];
    numbers->out[i] = y->dims[i];
    const int64_t cut = pads[2 * i] < 0 ? -pads[2 * i] : 0;
    const int64_t rest = x->dims[i] - cut + (pads[2 * i + 1] < 0 ? pads[2 * i + 1] : 0);
    numbers->first[i] = rest > 0 ? cut : 0;
    numbers->kept[i] = rest > 0 ? rest : 0;
    numbers->before[i] = pads[2 * i] > 0 ? pads[2 * i] : 0;
    if (numbers->mode != MSLITE_PADDING_MODE_CONSTANT && rest <= 0 && y->dims[i] > 0) return MSLITE_ERROR_SHAPE;
  }
  for (int32_t i = numbers->rank; i < x->rank; ++i) numbers->unit_bytes *= x->dims[i];
  if (numbers->rank == 0) { /* no padding: one row of one unit */
    numbers->rank = 1;
    numbers->in[0] = numbers->out[0] = numbers->kept[0] = 1;
    numbers->first[0] = numbers->before[0] = 0;
  }
  numbers->rows = 1;
  for (int32_t i = 0; i < numbers->rank - 1; ++i) numbers->rows *= numbers->out[i];
  const int64_t row_bytes = numbers->out[numbers->rank - 1] * numbers->unit_bytes;
  if (row_bytes == 0) numbers->rows = 0;
  numbers->rows_per_part =
      row_bytes == 0 || row_bytes >= MSLITE_COPY_PART_BYTES ? 1 : MSLITE_COPY_PART_BYTES / row_bytes;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

static mslite_status pad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_PadFusion *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  pad_derived *numbers = derived;
  int64_t pads[2 * MSLITE_MAX_RANK] = {0};
  int32_t count;
  memset(numbers, 0, sizeof *numbers);
  numbers->mode = attributes->padding_mode;
  if (numbers->mode < 0 || numbers->mode > MSLITE_PADDING_MODE_SYMMETRIC) return MSLITE_ERROR_ATTRIBUTE;
  if (node->input_count > 1) {
    if (!mslite_read_known_entries(node->inputs[1], pads, 2 * MSLITE_MAX_RANK, &count)) return MSLITE_ERROR_UNSUPPORTED;
    if (count != 2 * x->rank) return MSLITE_ERROR_SHAPE;
  } else {
    if (attributes->paddings.count != x->rank) return MSLITE_ERROR_ATTRIBUTE;
    for (int32_t i = 0; i < 2 * x->rank; ++i) pads[i] = attributes->paddings.at[i / 2].at[i % 2];
  }
  numbers->value_input = node->input_count > 2;
  float value = attributes->constant_value;
  if (x->quant_count > 0 && x->type != MSLITE_FLOAT32) value = stored_value(value, x);
  store_value(value, x->type, numbers->value);
  return prepare_pads(node, pads, numbers, schedule);
}

static int32_t pad_support(const mslite_node *node) {
  int64_t pads[2 * MSLITE_MAX_RANK];
  int32_t count;
  if (!mslite_copies_elements(node)) return 0;
  if (node->input_count > 1 && !mslite_read_known_entries(node->inputs[1], pads, 2 * MSLITE_MAX_RANK, &count)) return 0;
  return node->input_count < 3 || node->inputs[2]->type == node->inputs[0]->type;
}

static void fill(char *to, int64_t bytes, const uint8_t *value, int32_t size) {
  bool uniform = true;
  for (int32_t i = 1; i < size; ++i) uniform = uniform && value[i] == value[0];
  if (uniform) {
    if (bytes > 0) memset(to, value[0], (size_t)bytes);
    return;
  }
  for (int64_t i = 0; i < bytes; i += size) memcpy(to + i, value, (size_t)size);
}

static void pad_row(const pad_derived *numbers, const char *from, char *to, const uint8_t *value) {
  const int32_t last = numbers->rank - 1;
  const int64_t unit = numbers->unit_bytes;
  const int64_t size = numbers->kept[last];
  const int64_t out = numbers->out[last];
  const int64_t begin = numbers->before[last] < out ? numbers->before[last] : out;
  const int64_t end = begin + size < out ? begin + size : out;
  if (from == NULL) {
    fill(to, out * unit, value, numbers->element_size);
    return;
  }
  from += numbers->first[last] * unit;
  if (end > begin) memcpy(to + begin * unit, from, (size_t)((end - begin) * unit));
  if (numbers->mode == MSLITE_PADDING_MODE_CONSTANT) {
    fill(to, begin * unit, value, numbers->element_size);
    fill(to + end * unit, (out - end) * unit, value, numbers->element_size);
    return;
  }
  for (int64_t i = begin > 0 ? 0 : end; i < out; i = i + 1 == begin ? end : i + 1) {
    memcpy(to + i * unit, from + source_index(numbers->mode, i - begin, size) * unit, (size_t)unit);
  }
}

static void pad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const pad_derived *numbers = run->derived;
  const int32_t last = numbers->rank - 1;
  const uint8_t *value = numbers->value_input ? run->inputs[2] : numbers->value;
  const int64_t in_bytes = numbers->in[last] * numbers->unit_bytes;
  const int64_t out_bytes = numbers->out[last] * numbers->unit_bytes;
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  for (; row < end; ++row) {
    int64_t rest = row;
    int64_t source = 0;
    int64_t stride = 1;
    bool inside = true;
    for (int32_t i = last - 1; i >= 0; --i) {
      const int64_t at = source_index(numbers->mode, rest % numbers->out[i] - numbers->before[i], numbers->kept[i]);
      rest /= numbers->out[i];
      if (at < 0) inside = false;
      source += (numbers->first[i] + at) * stride;
      stride *= numbers->in[i];
    }
    pad_row(numbers, inside ? (const char *)run->inputs[0] + source * in_bytes : NULL,
            (char *)run->outputs[0] + row * out_bytes, value);
  }
}

static mslite_status extend_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_PadExtend *attributes = node->params;
  pad_derived *numbers = derived;
  int64_t pads[2 * MSLITE_MAX_RANK];
  int32_t count;
  memset(numbers, 0, sizeof *numbers);
  if (attributes->mode == NULL) return MSLITE_ERROR_ATTRIBUTE;
  if (strcmp(attributes->mode, "edge") == 0) {
    numbers->mode = PAD_EDGE;
  } else if (strcmp(attributes->mode, "wrap") == 0) {
    numbers->mode = PAD_WRAP;
  } else {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  if (!mslite_read_known_entries(node->inputs[1], pads, 2 * MSLITE_MAX_RANK, &count)) return MSLITE_ERROR_UNSUPPORTED;
  if (count != 2 * node->inputs[0]->rank) return MSLITE_ERROR_SHAPE;
  return prepare_pads(node, pads, numbers, schedule);
}

static int32_t extend_support(const mslite_node *node) { return node->input_count == 2 && pad_support(node); }

/* Returns whether integers can be padded without requantization: all have the same quantization parameters. Zero is
 * the zero point. */
static bool is_stored(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *value = node->input_count > 2 ? node->inputs[2] : NULL;
  if (x->type != MSLITE_INT8 && x->type != MSLITE_INT16) return false;
  return mslite_is_quantized(x, x->type) && mslite_is_quantized(node->outputs[0], x->type) &&
         (value == NULL || (mslite_is_quantized(value, x->type) && mslite_same_quant(value, x)));
}

static int32_t stored_support(const mslite_node *node) { return is_stored(node) && pad_support(node); }
static int32_t stored_extend_support(const mslite_node *node) { return is_stored(node) && extend_support(node); }

MSLITE_MOVEMENT_KERNEL(pad, PadFusion, pad_derived, pad_support, pad_prepare, pad_run, NULL)
MSLITE_MOVEMENT_KERNEL(pad_extend, PadExtend, pad_derived, extend_support, extend_prepare, pad_run, NULL)
MSLITE_QUANTIZED_KERNEL(pad_int8, PadFusion, pad_derived, stored_support, pad_prepare, pad_run, NULL)
MSLITE_QUANTIZED_KERNEL(pad_extend_int8, PadExtend, pad_derived, stored_extend_support, extend_prepare, pad_run, NULL)
