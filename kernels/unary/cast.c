/* Cast between all types of fixed size. Integers wrap around. A float is truncated to an integer; out of range it
 * becomes the nearest int64 and then wraps, NaN becomes 0. bool is "not zero". */
#include <string.h>

#include "kernel.h"
#include "unary/half.h"

enum { PART_ELEMENTS = 16384, CHUNK = 256 };

typedef struct {
  int64_t count;
  int32_t from;
  int32_t to;
  int32_t size_from;
  int32_t size_to;
} cast_derived;

static int32_t canonical(int32_t type) {
  if (type == MSLITE_INT) return MSLITE_INT32;
  if (type == MSLITE_UINT) return MSLITE_UINT32;
  return type == MSLITE_FLOAT ? MSLITE_FLOAT32 : type;
}

static bool is_float(int32_t type) {
  return type == MSLITE_FLOAT16 || type == MSLITE_BFLOAT16 || type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64;
}

static bool is_castable(int32_t type) {
  return mslite_type_size(type) > 0 && type != MSLITE_COMPLEX64 && type != MSLITE_COMPLEX128;
}

static int32_t support(const mslite_node *node) {
  return is_castable(node->inputs[0]->type) && is_castable(node->outputs[0]->type);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cast_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->from = canonical(node->inputs[0]->type);
  numbers->to = canonical(node->outputs[0]->type);
  numbers->size_from = mslite_type_size(numbers->from);
  numbers->size_to = mslite_type_size(numbers->to);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

#define EACH(statement)                      \
  for (int32_t i = 0; i < n; ++i) statement; \
  break

static void load_integers(int32_t type, const void *x, int64_t *wide, int32_t n) {
  switch (type) {
    case MSLITE_BOOL:
      EACH(wide[i] = ((const uint8_t *)x)[i] != 0);
    case MSLITE_INT8:
      EACH(wide[i] = ((const int8_t *)x)[i]);
    case MSLITE_UINT8:
      EACH(wide[i] = ((const uint8_t *)x)[i]);
    case MSLITE_INT16:
      EACH(wide[i] = ((const int16_t *)x)[i]);
    case MSLITE_UINT16:
      EACH(wide[i] = ((const uint16_t *)x)[i]);
    case MSLITE_INT32:
      EACH(wide[i] = ((const int32_t *)x)[i]);
    case MSLITE_UINT32:
      EACH(wide[i] = ((const uint32_t *)x)[i]);
    default:
      memcpy(wide, x, (size_t)n * sizeof *wide);
      break;
  }
}

static void load_floats(int32_t type, const void *x, double *wide, int32_t n) {
  switch (type) {
    case MSLITE_FLOAT16:
      EACH(wide[i] = (double)mslite_float_of_half(((const uint16_t *)x)[i]));
    case MSLITE_BFLOAT16:
      EACH(wide[i] = (double)mslite_float_of_bfloat(((const uint16_t *)x)[i]));
    case MSLITE_FLOAT32:
      EACH(wide[i] = (double)((const float *)x)[i]);
    default:
      memcpy(wide, x, (size_t)n * sizeof *wide);
      break;
  }
}

static void store_integers(int32_t type, const int64_t *wide, void *y, int32_t n) {
  switch (type) {
    case MSLITE_BOOL:
      EACH(((uint8_t *)y)[i] = wide[i] != 0);
    case MSLITE_INT8:
    case MSLITE_UINT8:
      EACH(((uint8_t *)y)[i] = (uint8_t)wide[i]);
    case MSLITE_INT16:
    case MSLITE_UINT16:
      EACH(((uint16_t *)y)[i] = (uint16_t)wide[i]);
    case MSLITE_INT32:
    case MSLITE_UINT32:
      EACH(((uint32_t *)y)[i] = (uint32_t)wide[i]);
    default:
      memcpy(y, wide, (size_t)n * sizeof *wide);
      break;
  }
}

static void store_floats(int32_t type, const double *wide, void *y, int32_t n) {
  switch (type) {
    case MSLITE_FLOAT16:
      EACH(((uint16_t *)y)[i] = mslite_half_of_float((float)wide[i]));
    case MSLITE_BFLOAT16:
      EACH(((uint16_t *)y)[i] = mslite_bfloat_of_float((float)wide[i]));
    case MSLITE_FLOAT32:
      EACH(((float *)y)[i] = (float)wide[i]);
    default:
      memcpy(y, wide, (size_t)n * sizeof *wide);
      break;
  }
}

static int64_t to_integer(double value, int32_t type) {
  if (type == MSLITE_BOOL) return value != 0;
  if (value != value) return 0;
  if (type == MSLITE_UINT64 && value >= 9223372036854775808.0)
    return value < 18446744073709551616.0 ? (int64_t)(uint64_t)value : -1;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

/* Rounded only once, because an int64 does not fit into a double. */
static void integers_to_float32(const int64_t *wide, bool is_unsigned, float *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i) y[i] = is_unsigned ? (float)(uint64_t)wide[i] : (float)wide[i];
}

static void cast_chunk(const cast_derived *numbers, const void *x, void *y, int32_t n) {
  int64_t integers[CHUNK];
  double floats[CHUNK];
  const bool from_float = is_float(numbers->from), to_float = is_float(numbers->to);
  if (from_float) {
    load_floats(numbers->from, x, floats, n);
  } else {
    load_integers(numbers->from, x, integers, n);
    const bool is_unsigned = numbers->from == MSLITE_UINT64;
    if (numbers->to == MSLITE_FLOAT32) {
      integers_to_float32(integers, is_unsigned, y, n);
      return;
    }
    if (to_float)
      for (int32_t i = 0; i < n; ++i) floats[i] = is_unsigned ? (double)(uint64_t)integers[i] : (double)integers[i];
  }
  if (from_float && !to_float)
    for (int32_t i = 0; i < n; ++i) integers[i] = to_integer(floats[i], numbers->to);
  if (to_float)
    store_floats(numbers->to, floats, y, n);
  else
    store_integers(numbers->to, integers, y, n);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const cast_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  const char *x = run->inputs[0];
  char *y = run->outputs[0];
  if (numbers->from == numbers->to) {
    const size_t bytes = (size_t)((end - begin) * numbers->size_to);
    if (x != y) memcpy(y + begin * numbers->size_to, x + begin * numbers->size_from, bytes);
    return;
  }
  for (int64_t i = begin; i < end; i += CHUNK) {
    const int32_t n = (int32_t)(end - i < CHUNK ? end - i : CHUNK);
    cast_chunk(numbers, x + i * numbers->size_from, y + i * numbers->size_to, n);
  }
}

static int32_t in_place(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) == mslite_type_size(node->outputs[0]->type) ? 0 : -1;
}

const mslite_kernel mslite_kernel_cast = {
    .name = "cast_scalar",
    .op = MSLITE_OP_Cast,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(cast_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
