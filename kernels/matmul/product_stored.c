/* Reference matmuls of quantized integers: two activations, or int16 activations and constant weights. The fast
 * kernels are tested against them. */
#include <string.h>

#include "matmul/stored.h"
#include "quantized.h"

/* One part is one row of one matrix of y. A constant b is packed: the parameters of its columns, then its integers. */
typedef struct {
  mslite_matmul product;
  mslite_rescale_kind kind;
  bool is_packed, has_narrow_sums;
  int32_t a_zero, y_zero, low, high;
  mslite_stored_column column; /* of every column if b is not packed */
} product_derived;

static int64_t product_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1 || node->inputs[1]->data == NULL) return 0;
  const int64_t bytes = mslite_element_count(node->inputs[1]) * mslite_type_size(node->inputs[1]->type);
  return mslite_stored_columns(node) * (int64_t)sizeof(mslite_stored_column) + bytes;
}

/* Member by member, so that padding bytes stay 0: generated C contains these bytes. */
static void set_column(const mslite_node *node, int64_t at, mslite_stored_column *to) {
  const mslite_stored_column column = mslite_stored_column_of(node, at);
  to->bias = column.bias;
  to->factor = column.factor;
  to->fixed = column.fixed;
  to->zero = column.zero;
}

static void product_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t columns = mslite_stored_columns(node);
  mslite_stored_column *to = packed;
  for (int64_t i = 0; i < columns; ++i) set_column(node, i, &to[i]);
  memcpy(to + columns, source,
         (size_t)(mslite_element_count(node->inputs[1]) * mslite_type_size(node->inputs[1]->type)));
}

static mslite_status product_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  product_derived *own = derived;
  mslite_matmul *p = &own->product;
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  if (p->m != 0 && p->batch > INT32_MAX / p->m) return MSLITE_ERROR_UNSUPPORTED;
  const mslite_tensor *a = node->inputs[0], *y = node->outputs[0], *bias = p->has_bias ? node->inputs[2] : NULL;
  own->kind = mslite_stored_rescale_kind(node);
  own->is_packed = node->inputs[1]->data != NULL;
  if (!own->is_packed) set_column(node, 0, &own->column);
  own->has_narrow_sums =
      a->type == MSLITE_INT8 || (bias != NULL && bias->type == MSLITE_INT32 && !y->quant->rounds_even);
  own->a_zero = a->quant->zero_point;
  own->y_zero = y->quant->zero_point;
  if (!mslite_quantized_limits(y->type, p->activation, y->quant, &own->low, &own->high)) return MSLITE_ERROR_ATTRIBUTE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(p->batch * p->m);
  schedule->scratch_bytes = (p->n + p->k) * (int64_t)sizeof(int64_t);
  return MSLITE_OK;
}

/* Returns the quantized result of column `column` from its sum of (a - zero) * b; `a_sum` is the sum of (a - zero). */
static int32_t product_result(const product_derived *own, const mslite_stored_column *column, int64_t sum,
                              int64_t a_sum) {
  sum += column->bias - column->zero * a_sum;
  if (own->has_narrow_sums) sum = (int32_t)(uint32_t)(uint64_t)sum;
  int32_t steps;
  if (own->kind == MSLITE_RESCALE_REAL) {
    steps = mslite_rescale_real(sum, column->factor);
  } else if (own->kind == MSLITE_RESCALE_WIDE) {
    steps = mslite_rescale_wide(sum, column->fixed);
  } else {
    steps = mslite_rescale((int32_t)sum, column->fixed);
  }
  return mslite_clamp((int32_t)((uint32_t)steps + (uint32_t)own->y_zero), own->low, own->high);
}

/* Rows of (a - zero) in `row_type`, sums in `sum_type`, which wraps around. */
#define PRODUCT_RUN(name, a_type, b_type, row_type, sum_type)                                          \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {                         \
    (void)phase;                                                                                       \
    const product_derived *own = run->derived;                                                         \
    const mslite_matmul *p = &own->product;                                                            \
    int64_t matrix_a, matrix_b, a_sum = 0;                                                             \
    mslite_matmul_matrices(p, part / p->m, &matrix_a, &matrix_b);                                      \
    const int64_t first = part % p->m * (p->transpose_a ? 1 : p->k), step = p->transpose_a ? p->m : 1; \
    const a_type *a = (const a_type *)run->inputs[0] + matrix_a * p->m * p->k + first;                 \
    const mslite_stored_column *columns = own->is_packed ? run->inputs[1] : &own->column;              \
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
  static int32_t name##_support(const mslite_node *node) { return mslite_quantized_matmul_fits(node, a_type, b_type); }

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
      .quantized = 1,                              \
  };

PRODUCT(matmul_int8, product_i8, MatMulFusion)
PRODUCT(matmul_int16, product_i16, MatMulFusion)
PRODUCT(matmul_int16_int8, product_i16_i8, MatMulFusion)
PRODUCT(full_connection_int8, product_i8, FullConnection)
PRODUCT(full_connection_int16, product_i16, FullConnection)
PRODUCT(full_connection_int16_int8, product_i16_i8, FullConnection)
