/* QuantDTypeCast between float32 and integers, and between integers, with TensorFlow Lite's reference rounding:
 *   quantize     round(x / scale) + zero_point, clamped to the type; half away from zero, or half to even (see
 * mslite_quant)
 *   dequantize   scale * (q - zero_point), the product in double
 *   requantize   fixed-point multiplication by the quotient of the scales; ONNX's arithmetic if results round half
 * to even */
#include <math.h>
#include <string.h>

#include "math/fixed_point.h"
#include "movement.h"
#include "quantized.h"

enum { CAST_ELEMENTS = 16384, CAST_CHANNELS = 2048 };

typedef struct {
  double scale;    /* dequantize, requantize: of the input; quantize: of the output */
  double to_scale; /* requantize */
  int32_t from_zero, to_zero;
  int32_t rounds_even;
  mslite_multiplier factor; /* requantize: the quotient of the scales */
} cast_record;

typedef struct {
  int64_t count, channels, inner; /* channel of element i: i / inner % channels */
  int32_t from, to;
  int32_t low, high; /* limits of the output */
} cast_numbers;

/* Per tensor, which is the most frequent case: generated C contains these parameters. */
typedef struct {
  cast_numbers numbers;
  cast_record record;
} cast_derived;

typedef struct {
  cast_numbers numbers;
  cast_record records[CAST_CHANNELS];
} cast_channels_derived;

static bool is_integer(int32_t type) {
  return type == MSLITE_INT8 || type == MSLITE_UINT8 || type == MSLITE_INT16 || type == MSLITE_UINT16 ||
         type == MSLITE_INT32;
}

static bool is_usable(const mslite_tensor *tensor) {
  return tensor->type == MSLITE_FLOAT32 || (is_integer(tensor->type) && tensor->quant_count > 0);
}

static int32_t cast_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  return is_usable(x) && is_usable(y) && (x->type != MSLITE_FLOAT32 || y->type != MSLITE_FLOAT32);
}

static int32_t cast_one_support(const mslite_node *node) {
  return cast_support(node) && node->inputs[0]->quant_count <= 1 && node->outputs[0]->quant_count <= 1;
}

static void set_limits(cast_numbers *numbers) {
  static const struct {
    int32_t type, low, high;
  } limits[] = {{MSLITE_INT8, INT8_MIN, INT8_MAX},
                {MSLITE_UINT8, 0, UINT8_MAX},
                {MSLITE_INT16, INT16_MIN, INT16_MAX},
                {MSLITE_UINT16, 0, UINT16_MAX},
                {MSLITE_INT32, INT32_MIN, INT32_MAX}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    if (limits[i].type != numbers->to) continue;
    numbers->low = limits[i].low;
    numbers->high = limits[i].high;
  }
}

static const mslite_quant *quant_of(const mslite_tensor *tensor, int32_t channel) {
  return tensor->quant_count == 0 ? NULL : &tensor->quant[tensor->quant_count > 1 ? channel : 0];
}

static mslite_status set_numbers(const mslite_node *node, cast_numbers *numbers, cast_record *to_fill,
                                 mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  memset(numbers, 0, sizeof *numbers);
  numbers->count = mslite_element_count(x);
  numbers->from = x->type;
  numbers->to = y->type;
  numbers->channels = numbers->inner = 1;
  set_limits(numbers);
  const int32_t records = x->quant_count > y->quant_count ? x->quant_count : y->quant_count;
  if (records > 1) {
    const int32_t axis = mslite_normalize_axis(((const mslite_QuantDTypeCast *)node->params)->axis, x->rank);
    if (axis < 0 || x->dims[axis] != records) return MSLITE_ERROR_SHAPE;
    if (records > CAST_CHANNELS) return MSLITE_ERROR_UNSUPPORTED;
    if (x->quant_count > 1 && y->quant_count > 1 && x->quant_count != y->quant_count) return MSLITE_ERROR_SHAPE;
    numbers->channels = records;
    for (int32_t i = axis + 1; i < x->rank; ++i) numbers->inner *= x->dims[i];
  }
  for (int32_t i = 0; i < (int32_t)numbers->channels; ++i) {
    const mslite_quant *from = x->type == MSLITE_FLOAT32 ? NULL : quant_of(x, i);
    const mslite_quant *to = y->type == MSLITE_FLOAT32 ? NULL : quant_of(y, i);
    cast_record *record = &to_fill[i];
    memset(record, 0, sizeof *record);
    if ((from != NULL && !(from->scale > 0)) || (to != NULL && !(to->scale > 0))) return MSLITE_ERROR_ATTRIBUTE;
    record->from_zero = from == NULL ? 0 : from->zero_point;
    record->to_zero = to == NULL ? 0 : to->zero_point;
    record->scale = from == NULL ? to->scale : from->scale;
    record->rounds_even = to != NULL && to->rounds_even && x->type != MSLITE_INT32;
    if (from == NULL || to == NULL) continue;
    record->to_scale = to->scale;
    record->factor = mslite_make_multiplier(from->scale / to->scale);
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + CAST_ELEMENTS - 1) / CAST_ELEMENTS);
  return MSLITE_OK;
}

static mslite_status cast_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cast_derived *own = derived;
  return set_numbers(node, &own->numbers, &own->record, schedule);
}

static mslite_status channels_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cast_channels_derived *own = derived;
  return set_numbers(node, &own->numbers, own->records, schedule);
}

static int32_t limited(const cast_numbers *numbers, int64_t value) {
  return (int32_t)(value < numbers->low ? numbers->low : value > numbers->high ? numbers->high : value);
}

static int32_t quantized(const cast_numbers *numbers, const cast_record *record, float x) {
  const float quotient = x / (float)record->scale;
  const float rounded = record->rounds_even ? rintf(quotient) : roundf(quotient);
  if (!(rounded > -2147483648.0f)) return limited(numbers, rounded != rounded ? record->to_zero : INT32_MIN);
  if (!(rounded < 2147483648.0f)) return numbers->high;
  return limited(numbers, (int64_t)rounded + record->to_zero);
}

static int32_t requantized(const cast_numbers *numbers, const cast_record *record, int32_t q) {
  if (record->rounds_even) {
    const mslite_quant from = {.scale = record->scale, .zero_point = record->from_zero};
    const mslite_quant to = {.scale = record->to_scale, .zero_point = record->to_zero};
    return limited(numbers, mslite_requantize_even(&from, &to, q));
  }
  const int32_t value = mslite_rescale((int32_t)((uint32_t)q - (uint32_t)record->from_zero), record->factor);
  return limited(numbers, (int64_t)value + record->to_zero);
}

static int32_t load(const void *data, int32_t type, int64_t at) {
  if (type == MSLITE_UINT16) return ((const uint16_t *)data)[at];
  return (int32_t)mslite_integer_at(data, type, at);
}

static void store(void *data, int32_t type, int64_t at, int32_t value) {
  switch (type) {
    case MSLITE_INT8:
      ((int8_t *)data)[at] = (int8_t)value;
      break;
    case MSLITE_UINT8:
      ((uint8_t *)data)[at] = (uint8_t)value;
      break;
    case MSLITE_INT16:
      ((int16_t *)data)[at] = (int16_t)value;
      break;
    case MSLITE_UINT16:
      ((uint16_t *)data)[at] = (uint16_t)value;
      break;
    default:
      ((int32_t *)data)[at] = value;
  }
}

static void cast_part(const mslite_run *run, const cast_numbers *numbers, const cast_record *records, int32_t part) {
  int64_t at = (int64_t)part * CAST_ELEMENTS;
  const int64_t end = numbers->count - at < CAST_ELEMENTS ? numbers->count : at + CAST_ELEMENTS;
  while (at < end) {
    const cast_record *record = &records[at / numbers->inner % numbers->channels];
    int64_t stop = numbers->channels == 1 ? end : (at / numbers->inner + 1) * numbers->inner;
    if (stop > end) stop = end;
    for (; at < stop; ++at) {
      if (numbers->from == MSLITE_FLOAT32) {
        store(run->outputs[0], numbers->to, at, quantized(numbers, record, ((const float *)run->inputs[0])[at]));
        continue;
      }
      const int32_t q = load(run->inputs[0], numbers->from, at);
      if (numbers->to == MSLITE_FLOAT32) {
        ((float *)run->outputs[0])[at] = (float)(record->scale * (double)((int64_t)q - record->from_zero));
      } else {
        store(run->outputs[0], numbers->to, at, requantized(numbers, record, q));
      }
    }
  }
}

static void cast_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const cast_derived *own = run->derived;
  cast_part(run, &own->numbers, &own->record, part);
}

static void channels_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const cast_channels_derived *own = run->derived;
  cast_part(run, &own->numbers, own->records, part);
}

MSLITE_MOVEMENT_KERNEL(quant_dtype_cast, QuantDTypeCast, cast_derived, cast_one_support, cast_prepare, cast_run, NULL)
MSLITE_MOVEMENT_KERNEL(quant_dtype_cast_channels, QuantDTypeCast, cast_channels_derived, cast_support, channels_prepare,
                       channels_run, NULL)
