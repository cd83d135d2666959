/* MatMulInteger on microcontrollers, for activations that are quantized at run time: one matrix of weights without
 * zero points. Two rows are computed together; all rows are one part. */
#include "matmul/integer_rows_micro.h"
#include "matmul/matmul_integer.h"

typedef struct {
  micro_integer_layer layer;
  int32_t rows;
  int32_t zeros; /* 0: all rows have the same zero point and scale; otherwise the number of rows with their own */
} matmul_integer_derived;

static int32_t matmul_integer_support(const mslite_node *node) {
  return micro_integer_fits(node) && node->inputs[MSLITE_B]->rank == 2 && node->inputs[MSLITE_B]->dims[0] > 0;
}

static int64_t matmul_integer_pack_size(const mslite_node *node, int32_t input) {
  const int64_t *dims = node->inputs[MSLITE_B]->dims;
  return input == MSLITE_B ? micro_integer_packed_size(dims[1], dims[0]) : 0;
}

static void matmul_integer_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  const int64_t *dims = node->inputs[MSLITE_B]->dims;
  if (input == MSLITE_B) micro_integer_pack(source, dims[1], dims[0], 1, dims[1], packed);
}

static mslite_status matmul_integer_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  matmul_integer_derived *own = derived;
  mslite_matmul_integer numbers;
  const mslite_status status = mslite_matmul_integer_of(node, &numbers);
  if (status != MSLITE_OK) return status;
  const mslite_matmul *p = &numbers.product;
  const int64_t rows = p->batch * p->m;
  if (p->k > INT32_MAX / 16 || p->n > INT32_MAX / 16 || rows > INT32_MAX / (p->k + p->n)) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  memset(own, 0, sizeof *own);
  own->layer.channels = (int32_t)p->n;
  own->layer.terms = (int32_t)p->k;
  own->layer.has_scales = numbers.operands.scales > 1;
  own->rows = (int32_t)rows;
  own->zeros = numbers.operands.a_zeros > 1 ? (int32_t)numbers.operands.a_zeros : 0;
  schedule->phase_count = 1;
  schedule->part_count[0] = rows > 0 && p->n > 0;
  schedule->scratch_bytes = micro_integer_staging(p->k);
  return MSLITE_OK;
}

static void matmul_integer_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const matmul_integer_derived *own = run->derived;
  const int8_t *x = run->inputs[MSLITE_A], *zero = run->inputs[MSLITE_A_ZERO];
  const float *scale = run->inputs[MSLITE_ROW_SCALE];
  float *y = run->outputs[0];
  int32_t at = 0;
  for (int32_t rest = own->rows; rest > 0; rest -= 2) {
    const int32_t rows = rest < 2 ? 1 : 2;
    micro_integer_pair pair;
    for (int32_t i = 0; i < rows; ++i, x += own->layer.terms, y += own->layer.channels) {
      pair.x[i] = x;
      pair.y[i] = y;
      pair.zero[i] = zero[at];
      pair.scale[i] = scale[at];
      if (own->zeros != 0 && ++at == own->zeros) at = 0;
    }
    micro_integer_rows(run, &own->layer, &pair, rows);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_matmul_integer) = {
    .name = MSLITE_ISA_STRING(matmul_integer),
    .op = MSLITE_OP_MatMulInteger,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(matmul_integer_derived),
    .support = matmul_integer_support,
    .prepare = matmul_integer_prepare,
    .pack_size = matmul_integer_pack_size,
    .pack = matmul_integer_pack,
    .run = matmul_integer_run,
};
