/* MatMulFusion with a row-major b that is not constant, float32, without bias and activation: gradients of weights,
 * where a is column-major, and matmuls of few rows, whose a is transposed first. Packing b would take long in
 * comparison. */
#include "matmul/geometry.h"
#include "training/outer.h"

enum {
  SMALLEST_PART = 1 << 18, /* multiply-accumulates */
  FEW_PARTS = 4,
  /* For a result of at least MANY elements: for a smaller one, copying would take too large a share. */
  MANY_PARTS = 8,
  MANY = 1 << 20,
  COST_OF_LEFT = 2, /* of copying a column of a, relative to one of b */
  FEW_ROWS = 16,    /* of a row-major a */
  TURNED = 64       /* elements of k per part of the first phase */
};

typedef struct {
  mslite_matmul product;
  int64_t panels, panel_block, panel_blocks;
  int64_t row_block, row_blocks;
  int64_t turned_parts; /* per matrix of a */
} matmul_outer_derived;

static int32_t matmul_outer_support(const mslite_node *node) {
  mslite_matmul p;
  if (node->inputs[1]->data != NULL || !mslite_matmul_fits(node, MSLITE_FLOAT32, &p)) return 0;
  if (p.transpose_b || p.has_bias || p.activation != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION) return 0;
  return p.transpose_a || (p.m <= FEW_ROWS && p.batch == 1) ? 3 : 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Returns the cost of copying per step of k. */
static int64_t copied(const mslite_matmul *p, int64_t panel_blocks, int64_t row_blocks) {
  return COST_OF_LEFT * panel_blocks * p->m + row_blocks * p->n;
}

static mslite_status matmul_outer_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  matmul_outer_derived *numbers = derived;
  mslite_matmul *p = &numbers->product;
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  const double work = (double)p->m * (double)p->n * (double)p->k;
  const int64_t most = p->m >= divide_up(MANY, larger(1, p->n)) ? MANY_PARTS : FEW_PARTS;
  const int64_t wanted =
      work >= (double)most * (double)SMALLEST_PART ? most : 1 + (int64_t)(work / (double)SMALLEST_PART);
  numbers->panels = larger(1, divide_up(p->n, OUTER_COLUMNS));
  numbers->row_blocks = larger(1, divide_up(p->m, OUTER_BLOCK));
  int64_t panel_blocks = smaller(numbers->panels, divide_up(wanted, numbers->row_blocks));
  /* A part copies its columns of a and b. Of all divisions into this many parts, selects the one that copies least. */
  for (int64_t rows = numbers->row_blocks + 1; rows <= smaller(wanted, divide_up(p->m, OUTER_ROWS)); ++rows) {
    const int64_t panels = smaller(numbers->panels, divide_up(wanted, rows));
    if (copied(p, panels, rows) >= copied(p, panel_blocks, numbers->row_blocks)) continue;
    numbers->row_blocks = rows;
    panel_blocks = panels;
  }
  numbers->panel_block = divide_up(numbers->panels, panel_blocks);
  numbers->panel_blocks = divide_up(numbers->panels, numbers->panel_block);
  numbers->row_block = larger(1, divide_up(divide_up(p->m, numbers->row_blocks), OUTER_ROWS)) * OUTER_ROWS;
  numbers->row_blocks = larger(1, divide_up(p->m, numbers->row_block));
  numbers->turned_parts = p->transpose_a ? 0 : divide_up(p->k, TURNED);
  const int64_t parts = numbers->panel_blocks * numbers->row_blocks;
  if (p->batch > INT32_MAX / parts || numbers->turned_parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 0;
  if (numbers->turned_parts > 0) {
    schedule->part_count[schedule->phase_count++] = (int32_t)numbers->turned_parts;
    schedule->shared_bytes = p->m * p->k * (int64_t)sizeof(float);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)(p->batch * parts);
  schedule->scratch_bytes = outer_scratch(numbers->row_block) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void turn_around(const mslite_run *run, const mslite_matmul *p, int32_t part) {
  const float *a = run->inputs[0];
  float *to = run->shared;
  const int64_t first = (int64_t)part * TURNED, last = smaller(first + TURNED, p->k);
  for (int64_t r = 0; r < p->m; ++r) {
    for (int64_t i = first; i < last; ++i) to[i * p->m + r] = a[r * p->k + i];
  }
}

static void matmul_outer_run(const mslite_run *run, int32_t phase, int32_t part) {
  const matmul_outer_derived *numbers = run->derived;
  const mslite_matmul *p = &numbers->product;
  if (phase == 0 && numbers->turned_parts > 0) {
    turn_around(run, p, part);
    return;
  }
  const int64_t blocks = numbers->panel_blocks * numbers->row_blocks;
  const int64_t first_panel = part % numbers->panel_blocks * numbers->panel_block;
  const int64_t last_panel = smaller(first_panel + numbers->panel_block, numbers->panels);
  const int64_t row = part % blocks / numbers->panel_blocks * numbers->row_block;
  const int64_t rows = smaller(numbers->row_block, p->m - row);
  int64_t matrix_a, matrix_b;
  mslite_matmul_matrices(p, part / blocks, &matrix_a, &matrix_b);
  const float *a = (numbers->turned_parts > 0 ? (const float *)run->shared : (const float *)run->inputs[0]) +
                   matrix_a * p->m * p->k + row;
  const float *b = (const float *)run->inputs[1] + matrix_b * p->k * p->n;
  const float *end = (const float *)run->inputs[1] + p->b_batch * p->k * p->n;
  float *c = (float *)run->outputs[0] + (part / blocks * p->m + row) * p->n;
  if (p->k == 0) memset(c, 0, (size_t)(rows * p->n) * sizeof *c);
  const float *right[OUTER_STEP];
  float *left = (float *)run->scratch + OUTER_STEP * OUTER_COLUMNS;
  for (int64_t k = 0; k < p->k; k += OUTER_STEP) {
    const int64_t count = smaller(OUTER_STEP, p->k - k);
    outer_block block = {
        .left = a + k * p->m,
        .left_step = p->m,
        .count = count,
        .c_step = p->n,
        .adds = k > 0,
    };
    outer_copy_left(&block, rows, left);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t column = panel * OUTER_COLUMNS;
      block.columns = smaller(OUTER_COLUMNS, p->n - column);
      block.c = c + column;
      float *copy = run->scratch;
      for (int64_t i = 0; i < count; ++i, copy += OUTER_COLUMNS) {
        right[i] = outer_line(b + (k + i) * p->n + column, block.columns, rows >= OUTER_COPIED, end, copy);
      }
      block.right = right;
      MSLITE_ISA_NAME(mslite_outer_run)(&block, rows);
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_matmul_outer_f32) = {
    .name = MSLITE_ISA_STRING(matmul_outer_f32),
    .op = MSLITE_OP_MatMulFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(matmul_outer_derived),
    .support = matmul_outer_support,
    .prepare = matmul_outer_prepare,
    .run = matmul_outer_run,
};
