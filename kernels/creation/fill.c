/* ConstantOfShape, Fill, FillV2, OnesLike, ZerosLike and EyeLike. */
#include <string.h>

#include "kernel.h"
#include "unary/half.h"

enum { PART_BYTES = 65536 };

typedef struct {
  int64_t bytes;
  int64_t columns;    /* EyeLike; otherwise 0 */
  int64_t diagonal;   /* EyeLike: column minus row */
  int32_t size;       /* bytes per element */
  int32_t value_from; /* the input that contains the value; -1: the value is in `value` */
  uint8_t value[16];
} fill_derived;

static bool is_float(int32_t type) {
  return type == MSLITE_FLOAT || type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64 || type == MSLITE_FLOAT16 ||
         type == MSLITE_BFLOAT16;
}

/* Converts `number` to the bytes of an element of `type`. Returns false for a type that is not numeric. For integer
 * types `number` must fit int32; a negative one wraps around if the type is unsigned. */
static bool encode(int32_t type, double number, uint8_t *bytes) {
#define ENCODE(c_type, number)           \
  {                                      \
    const c_type value = (c_type)number; \
    memcpy(bytes, &value, sizeof value); \
    return true;                         \
  }
  switch (type) {
    case MSLITE_BOOL:
      bytes[0] = number != 0;
      return true;
    case MSLITE_INT8:
    case MSLITE_UINT8: {
      const int32_t value = (int32_t)number;
      bytes[0] = (uint8_t)value;
      return true;
    }
    case MSLITE_INT16:
    case MSLITE_UINT16: {
      const uint16_t value = (uint16_t)(int32_t)number;
      memcpy(bytes, &value, sizeof value);
      return true;
    }
    case MSLITE_INT32:
    case MSLITE_INT:
      ENCODE(int32_t, (int64_t)number)
    case MSLITE_UINT32:
    case MSLITE_UINT:
      ENCODE(uint32_t, (int64_t)number)
    case MSLITE_INT64:
      ENCODE(int64_t, (int64_t)number)
    case MSLITE_UINT64:
      ENCODE(uint64_t, (int64_t)number)
    case MSLITE_FLOAT:
    case MSLITE_FLOAT32:
      ENCODE(float, number)
    case MSLITE_FLOAT64:
      ENCODE(double, number)
    case MSLITE_FLOAT16:
    case MSLITE_BFLOAT16: {
      const uint16_t value =
          type == MSLITE_FLOAT16 ? mslite_half_of_float((float)number) : mslite_bfloat_of_float((float)number);
      memcpy(bytes, &value, sizeof value);
      return true;
    }
    default:
      return false;
  }
}

/* Returns the value from the attributes, or the input that contains it. */
static bool value_of(const mslite_node *node, double *number, int32_t *value_from) {
  *number = 0;
  *value_from = -1;
  switch (node->op) {
    case MSLITE_OP_Fill:
      *value_from = 0;
      return true;
    case MSLITE_OP_FillV2:
      *value_from = 1;
      return true;
    case MSLITE_OP_OnesLike:
    case MSLITE_OP_EyeLike:
      *number = 1;
      return true;
    case MSLITE_OP_ConstantOfShape: {
      const mslite_floats values = ((const mslite_ConstantOfShape *)node->params)->value;
      if (values.count > 0) *number = (double)values.at[0];
      return is_float(node->outputs[0]->type) || (*number > -2147483648.0 && *number < 2147483648.0);
    }
    default:
      return true;
  }
}

static int32_t support(const mslite_node *node) {
  uint8_t ignored[16];
  double number;
  int32_t from;
  if (!value_of(node, &number, &from)) return 0;
  if (from >= 0)
    return node->input_count == 2 && mslite_type_size(node->outputs[0]->type) > 0 &&
           mslite_element_count(node->inputs[from]) >= 1;
  return encode(node->outputs[0]->type, number, ignored);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *y = node->outputs[0];
  fill_derived *numbers = derived;
  double number;
  memset(numbers, 0, sizeof *numbers);
  if (!value_of(node, &number, &numbers->value_from)) return MSLITE_ERROR_ATTRIBUTE;
  numbers->size = mslite_type_size(y->type);
  numbers->bytes = mslite_element_count(y) * numbers->size;
  if (numbers->value_from < 0) encode(y->type, number, numbers->value);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->bytes + PART_BYTES - 1) / PART_BYTES);
  if (node->op == MSLITE_OP_EyeLike) {
    numbers->columns = y->dims[1];
    numbers->diagonal = ((const mslite_EyeLike *)node->params)->k;
    schedule->part_count[0] = numbers->bytes > 0;
  }
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const fill_derived *numbers = run->derived;
  char *y = run->outputs[0];
  const void *value = numbers->value_from < 0 ? (const void *)numbers->value : run->inputs[numbers->value_from];
  const int64_t size = numbers->size;
  if (numbers->columns > 0) {
    memset(y, 0, (size_t)numbers->bytes);
    const int64_t rows = numbers->bytes / (numbers->columns * size);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t column = row + numbers->diagonal;
      if (column >= 0 && column < numbers->columns)
        memcpy(y + (row * numbers->columns + column) * size, value, (size_t)size);
    }
    return;
  }
  const int64_t begin = (int64_t)part * PART_BYTES; /* a multiple of all element sizes */
  const int64_t end = numbers->bytes - begin < PART_BYTES ? numbers->bytes : begin + PART_BYTES;
  for (int64_t at = begin; at < end; at += size) memcpy(y + at, value, (size_t)size);
}

#define FILL(function, operator)                   \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(fill_derived),        \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
  };

FILL(constant_of_shape, ConstantOfShape)
FILL(fill, Fill)
FILL(fill_v2, FillV2)
FILL(ones_like, OnesLike)
FILL(zeros_like, ZerosLike)
FILL(eye_like, EyeLike)
