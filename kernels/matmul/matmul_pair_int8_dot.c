/* MatMulFusion and FullConnection of two quantized int8 activations, as a GEMM: a first phase packs each matrix of b
 * as weights. */
#include "matmul/gemm_int8.h"
#include "matmul/stored.h"
#include "quantized.h"

typedef struct {
  mslite_matmul product;
  gemm_int8_plan plan; /* for one matrix of a */
  mslite_int8_weights weights;
  mslite_int8_channel column; /* the same for all columns */
  int64_t packed_bytes;       /* per matrix of b */
  int32_t parts;              /* per matrix of y */
} pair_derived;

static int32_t pair_support(const mslite_node *node) {
  return mslite_quantized_matmul_fits(node, MSLITE_INT8, MSLITE_INT8) && node->inputs[1]->data == NULL ? 2 : 0;
}

static mslite_status pair_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  pair_derived *own = derived;
  mslite_matmul *p = &own->product;
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  gemm_int8_plan *plan = &own->plan;
  plan->m = p->m;
  plan->n = p->n;
  plan->k = p->k;
  const mslite_quant *y = node->outputs[0]->quant;
  plan->y_zero = y->zero_point;
  if (!mslite_quantized_limits(MSLITE_INT8, p->activation, y, &plan->low, &plan->high)) return MSLITE_ERROR_ATTRIBUTE;
  const mslite_stored_column column = mslite_stored_column_of(node, 0);
  plan->rounds_once = mslite_stored_rescale_kind(node) == MSLITE_RESCALE_REAL;
  plan->is_whole = false;
  plan->in_place = !p->transpose_a;
  plan->has_zeros = column.zero != 0;
  gemm_int8_prepare(plan, 1);
  const mslite_int8_channel channel = {0, column.zero, column.fixed, plan->rounds_once ? column.factor : 0};
  const mslite_int8_weights weights = {
      .groups = 1,
      .n = p->n,
      .k = p->k,
      .n_step = p->transpose_b ? p->k : 1,
      .k_step = p->transpose_b ? 1 : p->n,
      .x_zero = node->inputs[0]->quant->zero_point,
  };
  own->column = channel;
  own->weights = weights;
  own->packed_bytes = (plan->packed.bytes + 63) / 64 * 64;
  const int64_t parts = p->m == 0 || p->n == 0 ? 0 : plan->plan.row_blocks * plan->plan.panel_blocks;
  if (p->b_batch > INT32_MAX || (p->batch > 0 && parts > INT32_MAX / p->batch)) return MSLITE_ERROR_UNSUPPORTED;
  own->parts = (int32_t)parts;
  schedule->phase_count = 2;
  schedule->part_count[0] = parts == 0 ? 0 : (int32_t)p->b_batch;
  schedule->part_count[1] = (int32_t)(p->batch * parts);
  schedule->shared_bytes = p->b_batch * own->packed_bytes;
  schedule->scratch_bytes = plan->bytes;
  return MSLITE_OK;
}

/* For packing at run time, where only the derived parameters are known, not the node. */
static mslite_int8_channel column_of(const mslite_node *node, int64_t n) {
  (void)n;
  return ((const pair_derived *)node->params)->column;
}

static void stage(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k, int64_t length,
                  int64_t step, dot_element *to) {
  (void)group;
  const pair_derived *own = run->derived;
  const mslite_matmul *p = &own->product;
  const int8_t *x = run->inputs[0];
  const int8_t *end = x + p->m * p->k;
  for (int64_t r = row; r < row + count; ++r, to += step) {
    if (p->transpose_a) {
      const int8_t *from = x + k * p->m + r;
      for (int64_t i = 0; i < length; ++i) to[i] = (dot_element)(from[i * p->m] + DOT_OFFSET);
    } else {
      const int8_t *from = x + r * p->k + k;
      dot_stage(from, length, end - from >= length + DOT_CHUNK, to);
    }
  }
}

static void pair_run(const mslite_run *run, int32_t phase, int32_t part) {
  const pair_derived *own = run->derived;
  const mslite_matmul *p = &own->product;
  const int64_t matrix = phase == 0 ? part : part / own->parts;
  if (phase == 0) {
    const mslite_node known = {.params = own};
    const int8_t *b = (const int8_t *)run->inputs[1] + matrix * p->k * p->n;
    mslite_pack_int8(&known, b, &own->weights, &gemm_int8_layout, column_of,
                     (char *)run->shared + matrix * own->packed_bytes);
    return;
  }
  int64_t matrix_a, matrix_b;
  mslite_matmul_matrices(p, matrix, &matrix_a, &matrix_b);
  const void *inputs[2] = {(const int8_t *)run->inputs[0] + matrix_a * p->m * p->k,
                           (const char *)run->shared + matrix_b * own->packed_bytes};
  void *outputs[1] = {(int8_t *)run->outputs[0] + matrix * p->m * p->n};
  mslite_run one = *run;
  one.inputs = inputs;
  one.outputs = outputs;
  gemm_int8_part(&one, &own->plan, stage, 1, part % own->parts);
}

#define PAIR(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(pair_derived),                         \
      .support = pair_support,                                      \
      .prepare = pair_prepare,                                      \
      .run = pair_run,                                              \
      .quantized = 1,                                               \
  };

PAIR(matmul_pair_int8, MatMulFusion)
PAIR(full_connection_pair_int8, FullConnection)
