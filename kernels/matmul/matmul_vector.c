/* float32 MatMulFusion and FullConnection over the GEMM. A constant b is packed at load, any other in a first phase. */
#include "matmul/gemm.h"
#include "matmul/geometry.h"

typedef struct {
  mslite_product product;
  mslite_gemm_plan plan;
  int64_t packed_step; /* floats from one packed matrix of b to the next */
  int64_t pack_parts;  /* parts per matrix of b in the packing phase, 0 when b is packed already */
} matmul_derived;

enum { PACKED_PANELS = 4 }; /* of one part of the packing phase */

static int32_t matmul_support(const mslite_node *node) {
  mslite_product product;
  if (!mslite_product_fits(node, MSLITE_FLOAT32, &product)) return 0;
  return activation_is_fusable(product.activation) ? 2 : 0;
}

static int64_t matmul_pack_size(const mslite_node *node, int32_t input) {
  mslite_product p;
  if (input != 1 || mslite_product_of(node, &p) != MSLITE_OK) return 0;
  return p.b_batch * mslite_packed_floats(p.k, p.n, GEMM_COLUMNS) * (int64_t)sizeof(gemm_real);
}

static void pack_matrix(const mslite_product *p, const float *b, int64_t first, int64_t last, gemm_real *packed) {
  gemm_pack(b, p->k, p->n, p->transpose_b ? 1 : p->n, p->transpose_b ? p->k : 1, first, last, packed);
}

static void matmul_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_product p;
  if (input != 1 || mslite_product_of(node, &p) != MSLITE_OK) return;
  const int64_t step = mslite_packed_floats(p.k, p.n, GEMM_COLUMNS);
  for (int64_t i = 0; i < p.b_batch; ++i) {
    pack_matrix(&p, (const float *)source + i * p.k * p.n, 0, (p.n + GEMM_COLUMNS - 1) / GEMM_COLUMNS,
                (gemm_real *)packed + i * step);
  }
}

/* Whether rows of a are gathered first: a is stored by columns, or in another type. */
static bool copies_rows(const mslite_product *p) { return SIMD_HALF || p->transpose_a; }

static mslite_status matmul_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  matmul_derived *numbers = derived;
  mslite_product *p = &numbers->product;
  const mslite_status status = mslite_product_of(node, p);
  if (status != MSLITE_OK) return status;
  /* One b for all matrices of a: one product of many rows. */
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
  schedule->phase_count = 0;
  if (!packed) {
    schedule->part_count[schedule->phase_count++] = (int32_t)(numbers->pack_parts * p->b_batch);
    schedule->shared_bytes = p->b_batch * numbers->packed_step * (int64_t)sizeof(gemm_real);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)parts;
  if (copies_rows(p)) schedule->scratch_bytes = plan->row_block * plan->k_block * (int64_t)sizeof(gemm_real);
  return MSLITE_OK;
}

/* Copies k elements of `rows` rows, whose elements (r, i) are a[r * row_step + i * k_step]. */
static void copy_rows(const float *a, int64_t row_step, int64_t k_step, int64_t rows, int64_t k, gemm_real *to) {
  for (int64_t r = 0; r < rows; ++r) {
    if (k_step == 1) {
      gemm_copy(a + r * row_step, k, to + r * k);
      continue;
    }
    for (int64_t i = 0; i < k; ++i) to[r * k + i] = (gemm_real)a[r * row_step + i * k_step];
  }
}

static void multiply(const mslite_run *run, const matmul_derived *numbers, const gemm_real *packed, int32_t part) {
  const mslite_product *p = &numbers->product;
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t blocks = plan->row_blocks * plan->panel_blocks;
  const int64_t row = part % blocks / plan->panel_blocks * plan->row_block;
  const int64_t panel = part % plan->panel_blocks * plan->panel_block, column = panel * GEMM_COLUMNS;
  const int64_t last_column = column + plan->panel_block * GEMM_COLUMNS;
  int64_t matrix_a, matrix_b;
  mslite_product_matrices(p, part / blocks, &matrix_a, &matrix_b);
  const float *a = (const float *)run->inputs[0] + matrix_a * p->m * p->k;
  const gemm_real *b = packed + matrix_b * numbers->packed_step + panel * GEMM_COLUMNS * p->k;
  const float *bias = p->has_bias ? run->inputs[2] : NULL;
  float *c = (float *)run->outputs[0] + (part / blocks * p->m + row) * p->n + column;
  const gemm_real *rows[MSLITE_LARGEST_ROW_BLOCK];
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
    if (p->transpose_a) {
      copy_rows(a + k * p->m + row, 1, p->m, g.rows, g.k, run->scratch);
    } else if (copies_rows(p)) {
      copy_rows(a + row * p->k + k, p->k, 1, g.rows, g.k, run->scratch);
    }
    for (int64_t r = 0; r < g.rows; ++r) {
      rows[r] = copies_rows(p) ? (const gemm_real *)run->scratch + r * g.k
                               : (const gemm_real *)run->inputs[0] + matrix_a * p->m * p->k + (row + r) * p->k + k;
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
  const mslite_product *p = &numbers->product;
  if (numbers->pack_parts == 0) {
    multiply(run, numbers, run->inputs[1], part);
  } else if (phase == 1) {
    multiply(run, numbers, run->shared, part);
  } else {
    const int64_t matrix = part / numbers->pack_parts, first = part % numbers->pack_parts * PACKED_PANELS;
    const int64_t panels = (p->n + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
    pack_matrix(p, (const float *)run->inputs[1] + matrix * p->k * p->n, first,
                first + PACKED_PANELS < panels ? first + PACKED_PANELS : panels,
                (gemm_real *)run->shared + matrix * numbers->packed_step);
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
