/* MatMulFusion and FullConnection of floats as a GEMM. A constant b is packed at load, others in a first phase. */
#include "matmul/gemm.h"
#include "matmul/geometry.h"

typedef struct {
  mslite_matmul product;
  mslite_gemm_plan plan;
  int64_t packed_step; /* elements between packed matrices of b */
  int64_t pack_parts;  /* parts per matrix of b in the packing phase; 0 if b is packed already */
  int64_t bias_copy;   /* elements */
} matmul_derived;

enum { PACKED_PANELS = 4 }; /* per part of the packing phase */

static int32_t matmul_support(const mslite_node *node) {
  mslite_matmul product;
  if (!mslite_matmul_fits(node, SIMD_REAL_TYPE, &product)) return 0;
  return activation_is_fusable(product.activation) ? 2 : 0;
}

static int64_t matmul_pack_size(const mslite_node *node, int32_t input) {
  mslite_matmul p;
  if (mslite_matmul_of(node, &p) != MSLITE_OK) return 0;
  if (input == 2) return gemm_bias_size(p.n);
  if (input != 1) return 0;
  return p.b_batch * mslite_packed_floats(p.k, p.n, GEMM_COLUMNS) * (int64_t)sizeof(simd_real);
}

static void matmul_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_matmul p;
  if (mslite_matmul_of(node, &p) != MSLITE_OK) return;
  if (input == 2) {
    gemm_pack_bias(source, p.n, packed);
    return;
  }
  const int64_t step = mslite_packed_floats(p.k, p.n, GEMM_COLUMNS);
  for (int64_t i = 0; i < p.b_batch; ++i) {
    gemm_pack((const float *)source + i * p.k * p.n, p.k, p.n, p.transpose_b ? 1 : p.n, p.transpose_b ? p.k : 1, 0,
              (p.n + GEMM_COLUMNS - 1) / GEMM_COLUMNS, (simd_real *)packed + i * step);
  }
}

/* Returns the elements of b that the kernel packs at run time. */
static int64_t packed_numbers(const matmul_derived *numbers) {
  return numbers->pack_parts > 0 ? numbers->product.b_batch * numbers->packed_step : 0;
}

static mslite_status matmul_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  matmul_derived *numbers = derived;
  mslite_matmul *p = &numbers->product;
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  /* One b for all matrices of a: a single matmul with more rows. */
  if (p->b_batch == 1 && !p->transpose_a && p->batch > 1 &&
      mslite_element_count(node->inputs[0]) == p->batch * p->m * p->k) {
    p->m *= p->batch;
    p->batch = 1;
    p->batch_rank = 0;
  }
  gemm_plan(p->m, p->n, p->k, &numbers->plan);
  const mslite_gemm_plan *plan = &numbers->plan;
  numbers->packed_step = mslite_packed_floats(p->k, p->n, GEMM_COLUMNS);
  const bool packed = node->inputs[1]->data != NULL;
  const int64_t panels = (p->n + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
  numbers->pack_parts = packed ? 0 : (panels + PACKED_PANELS - 1) / PACKED_PANELS;
  const int64_t parts = p->batch * plan->row_blocks * plan->panel_blocks;
  if (parts > INT32_MAX || numbers->pack_parts * p->b_batch > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  numbers->bias_copy = p->has_bias ? gemm_bias_copy(node->inputs[2], p->n) : 0;
  const int64_t prepared = numbers->pack_parts * p->b_batch + (numbers->bias_copy > 0 ? 1 : 0);
  schedule->phase_count = 0;
  if (prepared > 0) {
    if (prepared > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
    schedule->part_count[schedule->phase_count++] = (int32_t)prepared;
    schedule->shared_bytes = (packed_numbers(numbers) + numbers->bias_copy) * (int64_t)sizeof(simd_real);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)parts;
  if (p->transpose_a) schedule->scratch_bytes = plan->row_block * plan->k_block * (int64_t)sizeof(simd_real);
  return MSLITE_OK;
}

/* Copies k elements of `rows` rows of a matrix that is stored by columns of `m`. */
static void copy_rows(const simd_real *a, int64_t m, int64_t rows, int64_t k, simd_real *to) {
  enum { COLUMNS = 16 }; /* their cache lines are read for all rows */
  for (int64_t first = 0; first < k; first += COLUMNS) {
    const int64_t last = first + COLUMNS < k ? first + COLUMNS : k;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = first; i < last; ++i) to[r * k + i] = a[i * m + r];
    }
  }
}

static void multiply(const mslite_run *run, const matmul_derived *numbers, const simd_real *packed, int32_t part) {
  const mslite_matmul *p = &numbers->product;
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t blocks = plan->row_blocks * plan->panel_blocks;
  const int64_t row = part % blocks / plan->panel_blocks * plan->row_block;
  const int64_t panel = part % plan->panel_blocks * plan->panel_block, column = panel * GEMM_COLUMNS;
  const int64_t last_column = column + plan->panel_block * GEMM_COLUMNS;
  int64_t matrix_a, matrix_b;
  mslite_matmul_matrices(p, part / blocks, &matrix_a, &matrix_b);
  const simd_real *a = (const simd_real *)run->inputs[0] + matrix_a * p->m * p->k;
  const simd_real *b = packed + matrix_b * numbers->packed_step + panel * GEMM_COLUMNS * p->k;
  const simd_real *bias = p->has_bias ? run->inputs[2] : NULL;
  if (numbers->bias_copy > 0) bias = (const simd_real *)run->shared + packed_numbers(numbers);
  simd_real *c = (simd_real *)run->outputs[0] + (part / blocks * p->m + row) * p->n + column;
  const simd_real *rows[MSLITE_LARGEST_ROW_BLOCK];
  const int64_t no_offset = 0;
  gemm_block g = {
      .a = rows,
      .offsets = &no_offset,
      .pieces = 1,
      .b_step = GEMM_COLUMNS * p->k,
      .c = c,
      .c_step = p->n,
      .bias = bias == NULL ? NULL : bias + column,
      .rows = row + plan->row_block < p->m ? plan->row_block : p->m - row,
      .columns = (last_column < p->n ? last_column : p->n) - column,
  };
  int64_t k = 0;
  do {
    g.k = k + plan->k_block < p->k ? plan->k_block : p->k - k;
    if (p->transpose_a) copy_rows(a + k * p->m + row, p->m, g.rows, g.k, run->scratch);
    for (int64_t r = 0; r < g.rows; ++r) {
      rows[r] = p->transpose_a ? (const simd_real *)run->scratch + r * g.k : a + (row + r) * p->k + k;
    }
    g.b = b + k * GEMM_COLUMNS;
    gemm_set_activation(&g, k + g.k == p->k ? p->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
    gemm_run(&g);
    g.accumulate = true;
    k += g.k;
  } while (k < p->k);
  fused_rows(p->activation, c, p->n, g.rows, g.columns);
}

static void matmul_run(const mslite_run *run, int32_t phase, int32_t part) {
  const matmul_derived *numbers = run->derived;
  const mslite_matmul *p = &numbers->product;
  const bool prepares = numbers->pack_parts > 0 || numbers->bias_copy > 0;
  if (phase == (prepares ? 1 : 0)) {
    multiply(run, numbers, numbers->pack_parts > 0 ? run->shared : run->inputs[1], part);
  } else if (part == numbers->pack_parts * p->b_batch) {
    gemm_copy_bias(run->inputs[2], p->n, (simd_real *)run->shared + packed_numbers(numbers));
  } else {
    const int64_t matrix = part / numbers->pack_parts, first = part % numbers->pack_parts * PACKED_PANELS;
    const int64_t panels = (p->n + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
    gemm_pack_real((const simd_real *)run->inputs[1] + matrix * p->k * p->n, p->k, p->n, p->transpose_b ? 1 : p->n,
                   p->transpose_b ? p->k : 1, first, first + PACKED_PANELS < panels ? first + PACKED_PANELS : panels,
                   (simd_real *)run->shared + matrix * numbers->packed_step);
  }
}

#define MATMUL(function, operator)                                  \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(matmul_derived),                       \
      .support = matmul_support,                                    \
      .prepare = matmul_prepare,                                    \
      .pack_size = matmul_pack_size,                                \
      .pack = matmul_pack,                                          \
      .run = matmul_run,                                            \
  };

MATMUL(matmul_gemm_f32, MatMulFusion)
MATMUL(full_connection_gemm_f32, FullConnection)
