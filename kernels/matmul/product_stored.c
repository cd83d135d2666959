/* Products of stored integers by their definition: two activations, or int16 activations and constant weights. The
 * oracle for the fast kernels.
 *
 * TensorFlow Lite's reference arithmetic: batched products rescale by a fixed-point multiplier (64-bit sums by its wide
 * form), fully connected layers in float64 unless their weights are int16. */
#include <string.h>

#include "math/fixed_point.h"
#include "matmul/geometry.h"
#include "quantised.h"

typedef enum { RESCALE_FIXED, RESCALE_WIDE, RESCALE_REAL } rescale_kind;

/* One column of b. */
typedef struct {
  int64_t bias;
  double factor;
  mslite_multiplier fixed;
  int32_t zero;
} product_column;

/* One part is one row of one matrix of y. A constant b is packed: its columns' numbers, then its integers. */
typedef struct {
  mslite_product product;
  rescale_kind kind;
  bool is_packed, has_narrow_sums;
  int32_t a_zero, y_zero, low, high;
  product_column column; /* of every column, where b is not packed */
} product_derived;

static bool is_fully_connected(const mslite_node *node) {
  if (node->op == MSLITE_OP_FullConnection) return true;
  /* So the layers come that keep their dimensions. */
  const mslite_MatMulFusion *params = node->params;
  return node->inputs[1]->data != NULL && node->inputs[1]->rank == 2 && params->transpose_b && !params->transpose_a;
}

static rescale_kind kind_of(const mslite_node *node) {
  const bool wide = node->inputs[0]->type == MSLITE_INT16;
  if (is_fully_connected(node)) return node->inputs[1]->type == MSLITE_INT16 ? RESCALE_WIDE : RESCALE_REAL;
  return wide ? RESCALE_WIDE : RESCALE_FIXED;
}

/* Columns of a constant b. */
static int64_t columns_of(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[1];
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  if (b->rank < 2) return -1;
  return b->dims[attributes.transpose_b ? b->rank - 2 : b->rank - 1];
}

static bool product_fits(const mslite_node *node, int32_t a_type, int32_t b_type) {
  if (node->input_count < 2 || node->output_count != 1 || node->inputs[1] == NULL) return false;
  const mslite_tensor *b = node->inputs[1], *y = node->outputs[0];
  if (!mslite_is_stored(node->inputs[0], a_type) || !mslite_is_stored(y, a_type) || b->type != b_type) return false;
  if (b->data == NULL) {
    if (!mslite_is_stored(b, b_type) || (node->input_count > 2 && node->inputs[2] != NULL)) return false;
  } else {
    const int64_t columns = columns_of(node);
    if (columns < 1 || !mslite_is_stored_weight(b, b_type, columns)) return false;
    if (b->rank != 2 && b->quant_count > 1) return false;
    if (!mslite_is_stored_bias(node, 2, columns, a_type == MSLITE_INT16)) return false;
  }
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  int32_t low, high;
  return mslite_stored_limits(a_type, attributes.activation, y->quant, &low, &high);
}

static product_column column_of(const mslite_node *node, int64_t at) {
  const mslite_tensor *b = node->inputs[1], *bias = node->input_count > 2 ? node->inputs[2] : NULL;
  const mslite_quant *record = mslite_record_of(b, at);
  /* One multiplier for all columns is that of the scales' product in float32. */
  const bool narrow = kind_of(node) != RESCALE_REAL && b->quant_count == 1;
  product_column column;
  column.factor = mslite_product_scale(node->inputs[0]->quant, record, node->outputs[0]->quant, narrow);
  column.fixed = mslite_make_multiplier(column.factor);
  column.zero = record->zero_point;
  column.bias = 0;
  if (bias != NULL) {
    column.bias = bias->type == MSLITE_INT64 ? ((const int64_t *)bias->data)[at] : ((const int32_t *)bias->data)[at];
  }
  return column;
}

static int64_t product_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1 || node->inputs[1]->data == NULL) return 0;
  const int64_t bytes = mslite_element_count(node->inputs[1]) * mslite_type_size(node->inputs[1]->type);
  return columns_of(node) * (int64_t)sizeof(product_column) + bytes;
}

static void product_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t columns = columns_of(node);
  product_column *to = packed;
  for (int64_t i = 0; i < columns; ++i) to[i] = column_of(node, i);
  memcpy(to + columns, source,
         (size_t)(mslite_element_count(node->inputs[1]) * mslite_type_size(node->inputs[1]->type)));
}

static mslite_status product_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  product_derived *own = derived;
  mslite_product *p = &own->product;
  const mslite_status status = mslite_product_of(node, p);
  if (status != MSLITE_OK) return status;
  if (p->m != 0 && p->batch > INT32_MAX / p->m) return MSLITE_ERROR_UNSUPPORTED;
  const mslite_tensor *a = node->inputs[0], *y = node->outputs[0], *bias = p->has_bias ? node->inputs[2] : NULL;
  own->kind = kind_of(node);
  own->is_packed = node->inputs[1]->data != NULL;
  if (!own->is_packed) own->column = column_of(node, 0);
  own->has_narrow_sums = a->type == MSLITE_INT8 || (bias != NULL && bias->type == MSLITE_INT32);
  own->a_zero = a->quant->zero_point;
  own->y_zero = y->quant->zero_point;
  if (!mslite_stored_limits(y->type, p->activation, y->quant, &own->low, &own->high)) return MSLITE_ERROR_ATTRIBUTE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(p->batch * p->m);
  schedule->scratch_bytes = (p->n + p->k) * (int64_t)sizeof(int64_t);
  return MSLITE_OK;
}

/* The stored result of column `column` from its sum of (a - zero) * b; `a_sum` is the sum of (a - zero). */
static int32_t product_result(const product_derived *own, const product_column *column, int64_t sum, int64_t a_sum) {
  sum += column->bias - column->zero * a_sum;
  if (own->has_narrow_sums) sum = (int32_t)(uint32_t)(uint64_t)sum;
  int32_t steps;
  if (own->kind == RESCALE_REAL) {
    steps = mslite_rescale_real(sum, column->factor);
  } else if (own->kind == RESCALE_WIDE) {
    steps = mslite_rescale_wide(sum, column->fixed);
  } else {
    steps = mslite_rescale((int32_t)sum, column->fixed);
  }
  return mslite_limit((int32_t)((uint32_t)steps + (uint32_t)own->y_zero), own->low, own->high);
}

/* Rows of (a - zero) in `row_type`, sums in `sum_type`, which wraps. */
#define PRODUCT_RUN(name, a_type, b_type, row_type, sum_type)                                          \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {                         \
    (void)phase;                                                                                       \
    const product_derived *own = run->derived;                                                         \
    const mslite_product *p = &own->product;                                                           \
    int64_t matrix_a, matrix_b, a_sum = 0;                                                             \
    mslite_product_matrices(p, part / p->m, &matrix_a, &matrix_b);                                     \
    const int64_t first = part % p->m * (p->transpose_a ? 1 : p->k), step = p->transpose_a ? p->m : 1; \
    const a_type *a = (const a_type *)run->inputs[0] + matrix_a * p->m * p->k + first;                 \
    const product_column *columns = own->is_packed ? run->inputs[1] : &own->column;                    \
    const b_type *b = own->is_packed ? (const b_type *)(columns + p->n) : run->inputs[1];              \
    sum_type *sums = run->scratch;                                                                     \
    row_type *row = (row_type *)((int64_t *)run->scratch + p->n);                                      \
    a_type *y = (a_type *)run->outputs[0] + (int64_t)part * p->n;                                      \
    b += matrix_b * p->k * p->n;                                                                       \
    for (int64_t k = 0; k < p->k; ++k) {                                                               \
      row[k] = (row_type)(a[k * step] - own->a_zero);                                                  \
      a_sum += row[k];                                                                                 \
    }                                                                                                  \
    memset(sums, 0, (size_t)p->n * sizeof *sums);                                                      \
    if (p->transpose_b) {                                                                              \
      for (int64_t n = 0; n < p->n; ++n) {                                                             \
        sum_type sum = 0;                                                                              \
        for (int64_t k = 0; k < p->k; ++k) sum += (sum_type)row[k] * (sum_type)b[n * p->k + k];        \
        sums[n] = sum;                                                                                 \
      }                                                                                                \
    } else {                                                                                           \
      for (int64_t k = 0; k < p->k; ++k) {                                                             \
        for (int64_t n = 0; n < p->n; ++n) sums[n] += (sum_type)row[k] * (sum_type)b[k * p->n + n];    \
      }                                                                                                \
    }                                                                                                  \
    for (int64_t n = 0; n < p->n; ++n) {                                                               \
      const int64_t sum = sizeof(sum_type) == 4 ? (int64_t)(int32_t)sums[n] : (int64_t)sums[n];        \
      y[n] = (a_type)product_result(own, &columns[own->is_packed ? n : 0], sum, a_sum);                \
    }                                                                                                  \
  }

PRODUCT_RUN(product_i8, int8_t, int8_t, int16_t, uint32_t)
PRODUCT_RUN(product_i16, int16_t, int16_t, int32_t, int64_t)
PRODUCT_RUN(product_i16_i8, int16_t, int8_t, int32_t, int64_t)

#define PRODUCT_SUPPORT(name, a_type, b_type) \
  static int32_t name##_support(const mslite_node *node) { return product_fits(node, a_type, b_type); }

PRODUCT_SUPPORT(product_i8, MSLITE_INT8, MSLITE_INT8)
PRODUCT_SUPPORT(product_i16, MSLITE_INT16, MSLITE_INT16)
PRODUCT_SUPPORT(product_i16_i8, MSLITE_INT16, MSLITE_INT8)

#define PRODUCT(function, runner, operator)        \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function,                           \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(product_derived),     \
      .support = runner##_support,                 \
      .prepare = product_prepare,                  \
      .pack_size = product_pack_size,              \
      .pack = product_pack,                        \
      .run = runner##_run,                         \
      .quantised = 1,                              \
  };

PRODUCT(matmul_i8, product_i8, MatMulFusion)
PRODUCT(matmul_i16, product_i16, MatMulFusion)
PRODUCT(matmul_i16_i8, product_i16_i8, MatMulFusion)
PRODUCT(full_connection_i8, product_i8, FullConnection)
PRODUCT(full_connection_i16, product_i16, FullConnection)
PRODUCT(full_connection_i16_i8, product_i16_i8, FullConnection)
