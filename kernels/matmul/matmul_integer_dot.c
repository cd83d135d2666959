/* MatMulInteger as a GEMM. One constant matrix is packed at load, for all of a; others are packed as weights in a
 * first phase. */
#include "matmul/gemm_int8.h"
#include "matmul/matmul_integer.h"

typedef struct {
  mslite_matmul_integer numbers;
  gemm_int8_plan plan; /* for all of a if b is packed, otherwise for one matrix */
  mslite_int8_weights weights;
  int64_t packed_bytes; /* per matrix of b */
  int32_t parts;        /* per matrix of y */
  int32_t is_packed;
} integer_derived;

static int32_t integer_support(const mslite_node *node) { return mslite_integer_matmul_support(node) != 0 ? 2 : 0; }

static bool is_packed(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[MSLITE_B];
  if (b->data == NULL || b->rank < 2) return false;
  for (int32_t i = 0; i + 2 < b->rank; ++i) {
    if (b->dims[i] != 1) return false;
  }
  return true;
}

static mslite_int8_weights weights_of(const mslite_node *node, int64_t k, int64_t n) {
  const mslite_int8_weights weights = {
      .groups = 1,
      .n = n,
      .k = k,
      .n_step = 1,
      .k_step = n,
      .x_zero = GEMM_INT8_WHOLE_ZERO,
      .flip = node->inputs[MSLITE_B]->type == MSLITE_UINT8 ? 128 : 0,
  };
  return weights;
}

static mslite_int8_weights constant_weights_of(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[MSLITE_B];
  return weights_of(node, b->dims[b->rank - 2], b->dims[b->rank - 1]);
}

static mslite_int8_channel column_of(const mslite_node *node, int64_t n) {
  (void)node, (void)n;
  const mslite_int8_channel nothing = {0};
  return nothing;
}

static int64_t integer_pack_size(const mslite_node *node, int32_t input) {
  if (input != MSLITE_B || !is_packed(node)) return 0;
  const mslite_int8_weights weights = constant_weights_of(node);
  mslite_int8_packed packed;
  mslite_plan_int8(1, weights.n, weights.k, &gemm_int8_layout, &packed);
  return packed.bytes;
}

static void integer_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != MSLITE_B) return;
  const mslite_int8_weights weights = constant_weights_of(node);
  mslite_pack_int8(node, source, &weights, &gemm_int8_layout, column_of, packed);
}

static mslite_status integer_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  integer_derived *own = derived;
  const mslite_status status = mslite_matmul_integer_of(node, &own->numbers);
  if (status != MSLITE_OK) return status;
  const mslite_matmul *p = &own->numbers.product;
  gemm_int8_plan *plan = &own->plan;
  own->is_packed = is_packed(node);
  plan->m = own->is_packed != 0 ? p->batch * p->m : p->m;
  plan->n = p->n;
  plan->k = p->k;
  plan->rounds_once = false;
  plan->is_whole = true;
  plan->in_place = true;
  plan->operands = own->numbers.operands;
  plan->has_zeros = !mslite_integer_b_is_symmetric(node);
  gemm_int8_prepare(plan, 1);
  own->weights = weights_of(node, p->k, p->n);
  own->packed_bytes = (plan->packed.bytes + 63) / 64 * 64;
  const int64_t matrices = own->is_packed != 0 ? 1 : p->batch;
  const int64_t parts = plan->m == 0 || p->n == 0 ? 0 : plan->plan.row_blocks * plan->plan.panel_blocks;
  if (p->b_batch > INT32_MAX || (matrices > 0 && parts > INT32_MAX / matrices)) return MSLITE_ERROR_UNSUPPORTED;
  own->parts = (int32_t)parts;
  schedule->phase_count = 2;
  schedule->part_count[0] = own->is_packed != 0 || parts == 0 ? 0 : (int32_t)p->b_batch;
  schedule->part_count[1] = (int32_t)(matrices * parts);
  schedule->shared_bytes = own->is_packed != 0 ? 0 : p->b_batch * own->packed_bytes;
  schedule->scratch_bytes = plan->bytes;
  return MSLITE_OK;
}

static void stage(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k, int64_t length,
                  int64_t step, dot_element *to) {
  (void)group;
  const gemm_int8_plan *plan = &((const integer_derived *)run->derived)->plan;
  const int8_t *x = run->inputs[MSLITE_A];
  const int8_t *end = x + plan->m * plan->k;
  for (int64_t r = row; r < row + count; ++r, to += step) {
    const int8_t *from = x + r * plan->k + k;
    dot_stage(from, length, end - from >= length + DOT_CHUNK, to);
  }
}

static void integer_run(const mslite_run *run, int32_t phase, int32_t part) {
  const integer_derived *own = run->derived;
  const mslite_matmul *p = &own->numbers.product;
  if (own->is_packed != 0) {
    gemm_int8_part(run, &own->plan, stage, 1, part);
    return;
  }
  if (phase == 0) {
    const int8_t *b = (const int8_t *)run->inputs[MSLITE_B] + part * p->k * p->n;
    mslite_pack_int8(NULL, b, &own->weights, &gemm_int8_layout, column_of,
                     (char *)run->shared + part * own->packed_bytes);
    return;
  }
  const int64_t matrix = part / own->parts;
  int64_t matrix_a, matrix_b;
  mslite_matmul_matrices(p, matrix, &matrix_a, &matrix_b);
  const void *inputs[MSLITE_ROW_SCALE + 1] = {
      (const int8_t *)run->inputs[MSLITE_A] + matrix_a * p->m * p->k,
      (const char *)run->shared + matrix_b * own->packed_bytes,
      (const int8_t *)run->inputs[MSLITE_A_ZERO] + matrix_a * own->numbers.a_zero_step,
      (const int8_t *)run->inputs[MSLITE_B_ZERO] + matrix_b * own->numbers.b_zero_step,
  };
  if (own->plan.operands.scales > 0) inputs[MSLITE_SCALE] = run->inputs[MSLITE_SCALE];
  if (own->plan.operands.has_bias != 0) inputs[MSLITE_BIAS] = run->inputs[MSLITE_BIAS];
  if (own->plan.operands.has_row_scale != 0) {
    inputs[MSLITE_ROW_SCALE] = (const float *)run->inputs[MSLITE_ROW_SCALE] + matrix_a * own->numbers.a_zero_step;
  }
  void *outputs[1] = {(int32_t *)run->outputs[0] + matrix * p->m * p->n};
  mslite_run one = *run;
  one.inputs = inputs;
  one.outputs = outputs;
  gemm_int8_part(&one, &own->plan, stage, 1, part % own->parts);
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_matmul_integer_gemm) = {
    .name = MSLITE_ISA_STRING(matmul_integer_gemm),
    .op = MSLITE_OP_MatMulInteger,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(integer_derived),
    .support = integer_support,
    .prepare = integer_prepare,
    .pack_size = integer_pack_size,
    .pack = integer_pack,
    .run = integer_run,
};
