/* The inner loops of gemm_int8.h, once for all kernels that multiply stored integers. */
#include "matmul/gemm_int8.h"

#include "matmul/gemm_int8_store.h"

enum { FEWEST_PANELS = 4 }; /* of a part */

SIMD_INLINE dot_right load_right(const char *b, const bool stored) {
  return stored ? dot_load_stored((const int8_t *)b) : dot_load((const dot_weight *)(const void *)b);
}

/* `rows` x GEMM_INT8_COLUMNS sums; `rows` and `stored` are constants where this is inlined. `stored`: b is as it is
 * packed. Few rows take several chains of sums, so that no sum waits for the one before. */
SIMD_INLINE void tile(const gemm_int8_block *g, const char *b, int32_t *to, const int32_t rows, const bool stored) {
  enum { V = GEMM_INT8_VECTORS };
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH * (stored ? 1 : (int64_t)sizeof(dot_weight));
  const int32_t chains = rows * V <= 2 ? 4 : rows * V <= 4 ? 2 : 1;
  simd_i32 sum[GEMM_INT8_ROWS * V];
  if (g->first) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(g->bias + i % V * SIMD_WIDTH);
  } else {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(to + i * SIMD_WIDTH);
  }
  SIMD_UNROLL for (int32_t i = rows * V; i < rows * V * chains; ++i) sum[i] = simd_set_i32(0);
  const dot_element *a[(GEMM_INT8_ROWS + 2) / 3];
  const int64_t a_step = g->a_step, units = g->units;
  SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] = g->a + r * a_step;
  int64_t k = 0;
  /* units > 0: sums that a loop might pass by are copied around it. */
  if (chains == 1 || chains <= units) {
    do {
      SIMD_UNROLL for (int32_t c = 0; c < chains; ++c) {
        dot_right right[V];
        SIMD_UNROLL for (int32_t v = 0; v < V; ++v) right[v] = load_right(b + v * b_step, stored);
        SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
          const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
          SIMD_UNROLL for (int32_t v = 0; v < V; ++v) {
            sum[(c * rows + r) * V + v] = dot_add(sum[(c * rows + r) * V + v], left, right[v]);
          }
        }
        b += V * b_step;
        SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
      }
      k += chains;
    } while (k + chains <= units);
  }
  SIMD_UNROLL for (int32_t rest = 1; rest < chains; ++rest) {
    if (k++ >= units) break;
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
      SIMD_UNROLL for (int32_t v = 0; v < V; ++v) sum[r * V + v] =
          dot_add(sum[r * V + v], left, load_right(b + v * b_step, stored));
    }
    b += V * b_step;
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
  }
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) {
    SIMD_UNROLL for (int32_t c = 1; c < chains; ++c) sum[i] += sum[c * rows * V + i];
    simd_store_i32(to + i * SIMD_WIDTH, sum[i]);
  }
}

#define TILE_CASE(rows)              \
  case rows:                         \
    tile(g, b, to, rows, rows == 1); \
    break;

static __attribute__((noinline)) void run_tile(const gemm_int8_block *g, const char *b, int32_t *to, int64_t rows) {
  switch (SIMD_WIDTH == 16 && rows > 1 ? rows + rows % 2 : rows) {
    TILE_CASE(1)
    TILE_CASE(2)
    TILE_CASE(4)
    TILE_CASE(6)
#if SIMD_WIDTH == 16
    TILE_CASE(8)
    TILE_CASE(10)
    TILE_CASE(12)
#else
    TILE_CASE(3)
    TILE_CASE(5)
#endif
    default:
      break;
  }
}
#undef TILE_CASE

static int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

/* One panel, in tiles of equal height but for the last. On vectors of 16 lanes all but that are even: its spare row is
 * nobody's. */
static __attribute__((noinline)) void run_panel(const gemm_int8_block *block, int64_t columns) {
  int32_t own[GEMM_INT8_ROWS * GEMM_INT8_COLUMNS];
  gemm_int8_block g = *block;
  const int64_t tiles = (g.rows + GEMM_INT8_ROWS - 1) / GEMM_INT8_ROWS;
  const int64_t high = round_up((g.rows + tiles - 1) / tiles, SIMD_WIDTH == 16 && g.rows > 1 ? 2 : 1);
  /* A single row reads its weights as they are packed: a copy would be read only once. */
  const char *widened = NULL;
  if (g.rows > 1) widened = (const char *)dot_weights(g.b, g.units, GEMM_INT8_VECTORS, g.room);
  panel_numbers numbers;
  set_numbers(&g, &numbers);
  for (; g.rows > 0; g.rows -= high) {
    const int64_t rows = g.rows < high ? g.rows : high;
    int32_t *sums = g.sums == NULL ? own : g.sums;
    run_tile(&g, rows == 1 ? (const char *)g.b : widened, sums, rows);
    if (g.last) store(&g, &numbers, sums, rows, columns);
    g.a += rows * g.a_step;
    if (g.sums != NULL) g.sums += rows * GEMM_INT8_COLUMNS;
    if (g.row_sums != NULL) g.row_sums += rows;
    g.y += rows * g.y_step;
    g.row += rows;
  }
}

static void run_block(gemm_int8_block *g) {
  const int64_t result_size = g->operands == NULL ? 1 : (int64_t)sizeof(int32_t);
  for (; g->columns > 0 && g->rows > 0; g->columns -= GEMM_INT8_COLUMNS) {
    run_panel(g, g->columns < GEMM_INT8_COLUMNS ? g->columns : GEMM_INT8_COLUMNS);
    g->b += g->b_step;
    if (g->sums != NULL) g->sums += (g->rows + 1) * GEMM_INT8_COLUMNS;
    g->bias += GEMM_INT8_COLUMNS;
    g->value += GEMM_INT8_COLUMNS;
    g->shift += GEMM_INT8_COLUMNS;
    g->zero += GEMM_INT8_COLUMNS;
    if (g->scale != NULL) g->scale += GEMM_INT8_COLUMNS;
    if (g->column_sums != NULL) g->column_sums += GEMM_INT8_COLUMNS;
    g->y += GEMM_INT8_COLUMNS * result_size;
    g->column += GEMM_INT8_COLUMNS;
  }
}

void gemm_int8_prepare(gemm_int8_plan *plan, int64_t groups) {
  if (plan->is_whole) plan->y_zero = plan->low = plan->high = 0; /* whole sums have no limits */
  mslite_plan_int8(groups, plan->n, plan->k, &gemm_int8_layout, &plan->packed);
  const int64_t units = plan->packed.units;
  mslite_gemm_plan *cut = &plan->plan;
  mslite_plan_gemm(plan->m, plan->n, units, GEMM_INT8_ROWS, GEMM_INT8_COLUMNS, cut);
  /* Each part gathers its rows for itself: that is to be little beside the products. */
  const int64_t panels = (plan->n + GEMM_INT8_COLUMNS - 1) / GEMM_INT8_COLUMNS;
  if (cut->panel_block < FEWEST_PANELS) {
    cut->panel_block = panels < FEWEST_PANELS ? panels : FEWEST_PANELS;
    cut->panel_blocks = (panels + cut->panel_block - 1) / cut->panel_block;
  }
  const int64_t steps = (units + GEMM_INT8_LARGEST_STEP - 1) / GEMM_INT8_LARGEST_STEP;
  if (cut->k_block > GEMM_INT8_LARGEST_STEP) cut->k_block = (units + steps - 1) / steps;
  const int64_t rows = cut->row_block + 1, columns = cut->panel_block * GEMM_INT8_COLUMNS;
  plan->a_step = cut->k_block * DOT_DEPTH;
  const bool keeps_sums = cut->k_block < units;
  plan->sums_at = round_up((rows * plan->a_step + DOT_CHUNK) * (int64_t)sizeof(dot_element), 64);
  plan->row_sums_at = plan->sums_at + (keeps_sums ? rows * columns * (int64_t)sizeof(int32_t) : 0);
  plan->room_at = plan->row_sums_at + (plan->has_zeros ? round_up(rows * (int64_t)sizeof(int32_t), 64) : 0);
  plan->bytes = plan->room_at;
  if (DOT_WIDENS) plan->bytes += cut->k_block * GEMM_INT8_COLUMNS * DOT_DEPTH * (int64_t)sizeof(dot_weight);
}

/* Bytes that stand for unsigned integers were read as signed ones: now as the unsigned ones less 128. */
static void flip_elements(dot_element *a, int64_t step, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < length; ++i) a[r * step + i] = (dot_element)(a[r * step + i] ^ (dot_element)INT8_MIN);
  }
}

static void add_row_sums(const dot_element *a, int64_t step, int64_t rows, int64_t length, int32_t *row_sums) {
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += a[r * step + i];
    row_sums[r] = (int32_t)((uint32_t)row_sums[r] + (uint32_t)sum);
  }
}

void gemm_int8_part(const mslite_run *run, const gemm_int8_plan *plan, gemm_int8_stage stage, int64_t groups,
                    int32_t part) {
  const mslite_gemm_plan *cut = &plan->plan;
  const mslite_int8_packed *packed = &plan->packed;
  const int64_t column = part % cut->panel_blocks * cut->panel_block * GEMM_INT8_COLUMNS;
  const int64_t row = part / cut->panel_blocks % cut->row_blocks * cut->row_block;
  const int64_t group = part / (cut->panel_blocks * cut->row_blocks);
  const int64_t last_column = column + cut->panel_block * GEMM_INT8_COLUMNS;
  const int64_t channel = group * packed->padded + column;
  const char *weights = run->inputs[1];
  char *scratch = run->scratch;
  const int64_t result_size = plan->is_whole ? (int64_t)sizeof(int32_t) : 1;
  const int32_t *numbers[4];
  const int64_t places[4] = {packed->bias, packed->value, packed->shift, packed->zero};
  for (int32_t i = 0; i < 4; ++i) numbers[i] = (const int32_t *)(const void *)(weights + places[i]) + channel;
  dot_element *a = (dot_element *)(void *)scratch;
  int32_t *row_sums = plan->has_zeros ? (int32_t *)(void *)(scratch + plan->row_sums_at) : NULL;
  gemm_int8_block g = {
      .a = a,
      .a_step = plan->a_step,
      .b_step = packed->units * GEMM_INT8_COLUMNS * DOT_DEPTH,
      .rows = row + cut->row_block < plan->m ? cut->row_block : plan->m - row,
      .columns = (last_column < plan->n ? last_column : plan->n) - column,
      .sums = cut->k_block < packed->units ? (int32_t *)(void *)(scratch + plan->sums_at) : NULL,
      .bias = numbers[0],
      .column = group * plan->n + column,
      .row = row,
      .k = plan->k,
      .value = numbers[1],
      .shift = numbers[2],
      .zero = numbers[3],
      .scale = plan->rounds_once ? (const double *)(const void *)(weights + packed->scale) + channel : NULL,
      .row_sums = row_sums,
      .y = (int8_t *)run->outputs[0] + ((row * groups + group) * plan->n + column) * result_size,
      .y_step = groups * plan->n * result_size,
      .y_zero = plan->y_zero,
      .low = plan->low,
      .high = plan->high,
      .room = (dot_weight *)(void *)(scratch + plan->room_at),
  };
  if (plan->is_whole) {
    /* The place of the bias holds the sums of the columns, that of weight_zero nothing. */
    g.column_sums = g.bias;
    g.bias = g.zero;
    g.operands = &plan->operands;
    g.inputs = run->inputs;
  }
  if (row_sums != NULL) memset(row_sums, 0, (size_t)g.rows * sizeof *row_sums);
  const int8_t *panel =
      (const int8_t *)weights + packed->panels + group * packed->group_bytes + column / GEMM_INT8_COLUMNS * g.b_step;
  int64_t unit = 0;
  do {
    g.units = unit + cut->k_block < packed->units ? cut->k_block : packed->units - unit;
    g.first = unit == 0;
    g.last = unit + g.units == packed->units;
    const int64_t k = unit * DOT_DEPTH, length = g.last ? plan->k - k : g.units * DOT_DEPTH;
    stage(run, group, row, g.rows, k, length, plan->a_step, a);
    if (plan->is_whole && plan->operands.a_flip != 0) flip_elements(a, plan->a_step, g.rows, length);
    if (row_sums != NULL) add_row_sums(a, plan->a_step, g.rows, length, row_sums);
    g.b = panel + unit * GEMM_INT8_COLUMNS * DOT_DEPTH;
    gemm_int8_block own = g;
    run_block(&own);
    unit += g.units;
  } while (unit < packed->units);
}
