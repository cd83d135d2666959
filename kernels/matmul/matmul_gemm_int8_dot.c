/* MatMulFusion and FullConnection of quantized int8 with constant weights, as a GEMM. */
#include "matmul/gemm_int8.h"
#include "matmul/stored.h"
#include "quantized.h"

typedef struct {
  gemm_int8_plan plan;
  int64_t matrix_rows; /* rows of one matrix of a if it is [k][m]; 0: a has rows of k */
} matmul_int8_derived;

/* One matrix of constant weights, for all of a. */
static int32_t matmul_int8_support(const mslite_node *node) {
  if (!mslite_quantized_matmul_fits(node, MSLITE_INT8, MSLITE_INT8)) return 0;
  const mslite_tensor *b = node->inputs[1];
  if (b->data == NULL) return 0;
  for (int32_t i = 0; i + 2 < b->rank; ++i) {
    if (b->dims[i] != 1) return 0;
  }
  return 2;
}

static mslite_int8_channel channel_of(const mslite_node *node, int64_t n) {
  const mslite_stored_column column = mslite_stored_column_of(node, n);
  const bool rounds_once = mslite_stored_rescale_kind(node) == MSLITE_RESCALE_REAL;
  const mslite_int8_channel channel = {(int32_t)column.bias, column.zero, column.fixed,
                                       rounds_once ? column.factor : 0};
  return channel;
}

static mslite_int8_weights weights_of(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[1];
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const int64_t rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1];
  const mslite_int8_weights weights = {
      .groups = 1,
      .n = attributes.transpose_b ? rows : columns,
      .k = attributes.transpose_b ? columns : rows,
      .n_step = attributes.transpose_b ? columns : 1,
      .k_step = attributes.transpose_b ? 1 : columns,
      .x_zero = node->inputs[0]->quant->zero_point,
  };
  return weights;
}

static int64_t matmul_int8_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return 0;
  const mslite_int8_weights weights = weights_of(node);
  mslite_int8_packed packed;
  mslite_plan_int8(1, weights.n, weights.k, &gemm_int8_layout, &packed);
  return packed.bytes;
}

static void matmul_int8_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const mslite_int8_weights weights = weights_of(node);
  mslite_pack_int8(node, source, &weights, &gemm_int8_layout, channel_of, packed);
}

static mslite_status matmul_int8_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  matmul_int8_derived *own = derived;
  mslite_matmul product;
  const mslite_status status = mslite_matmul_of(node, &product);
  if (status != MSLITE_OK) return status;
  gemm_int8_plan *plan = &own->plan;
  own->matrix_rows = product.transpose_a ? product.m : 0;
  plan->m = product.batch * product.m;
  plan->n = product.n;
  plan->k = product.k;
  const mslite_quant *record = node->outputs[0]->quant;
  plan->y_zero = record->zero_point;
  if (!mslite_quantized_limits(MSLITE_INT8, product.activation, record, &plan->low, &plan->high)) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  plan->rounds_once = mslite_stored_rescale_kind(node) == MSLITE_RESCALE_REAL;
  plan->is_whole = false;
  plan->in_place = !product.transpose_a;
  plan->has_zeros = mslite_has_zero_points(node->inputs[1]);
  gemm_int8_prepare(plan, 1);
  const int64_t parts = plan->plan.row_blocks * plan->plan.panel_blocks;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = plan->m == 0 ? 0 : (int32_t)parts;
  schedule->scratch_bytes = plan->bytes;
  return MSLITE_OK;
}

static void stage(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k, int64_t length,
                  int64_t step, dot_element *to) {
  (void)group;
  const matmul_int8_derived *own = run->derived;
  const int64_t rows = own->matrix_rows;
  const int8_t *x = run->inputs[0];
  const int8_t *end = x + own->plan.m * own->plan.k;
  for (int64_t r = row; r < row + count; ++r, to += step) {
    const int8_t *from = x + r * own->plan.k + k;
    if (rows == 0) {
      dot_stage(from, length, end - from >= length + DOT_CHUNK, to);
      continue;
    }
    from = x + (r / rows * own->plan.k + k) * rows + r % rows;
    for (int64_t i = 0; i < length; ++i) to[i] = (dot_element)(from[i * rows] + DOT_OFFSET);
  }
}

static void matmul_int8_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const matmul_int8_derived *own = run->derived;
  gemm_int8_part(run, &own->plan, stage, 1, part);
}

#define MATMUL_INT8(function, operator)                             \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(matmul_int8_derived),                  \
      .support = matmul_int8_support,                               \
      .prepare = matmul_int8_prepare,                               \
      .pack_size = matmul_int8_pack_size,                           \
      .pack = matmul_int8_pack,                                     \
      .run = matmul_int8_run,                                       \
      .quantized = 1,                                               \
  };

MATMUL_INT8(matmul_gemm_int8, MatMulFusion)
MATMUL_INT8(full_connection_gemm_int8, FullConnection)
