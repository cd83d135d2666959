/* The inner loops of gemm_int8.h, shared by all kernels that multiply quantized integers. */
#include "matmul/gemm_int8.h"

#include "matmul/gemm_int8_tile.h"

enum { MIN_PANELS = 4 }; /* per part */

static int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

/* Returns the rows of all tiles of a block except for the last. If the height is even, the last row may be unused. */
static int64_t tile_height(int64_t rows, int64_t panels) {
  const int64_t highest = GEMM_INT8_ROWS / panels, tiles = (rows + highest - 1) / highest;
  return round_up((rows + tiles - 1) / tiles, rows > 1 ? GEMM_INT8_EVEN : 1);
}

/* Advances to the next panel. */
static void move_on(gemm_int8_block *g) {
  const int64_t result_size = g->operands == NULL ? 1 : (int64_t)sizeof(int32_t);
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
  g->columns -= GEMM_INT8_COLUMNS;
}

/* Computes `panels` panels, at most MAX_PANELS, in tiles. */
static __attribute__((noinline)) void run_panels(const gemm_int8_block *block, const int64_t panels) {
  int32_t own[GEMM_INT8_ROWS * GEMM_INT8_COLUMNS];
  gemm_int8_block g[MAX_PANELS];
  panel_numbers numbers[MAX_PANELS];
  const int64_t high = tile_height(block->rows, panels);
  /* Sums that are not kept between steps are in a local buffer. */
  const int64_t next =
      block->sums == NULL ? GEMM_INT8_ROWS / panels * GEMM_INT8_COLUMNS : (block->rows + 1) * GEMM_INT8_COLUMNS;
  /* A single row reads its weights as they are packed, because a widened copy would be read only once. */
  const char *widened = NULL;
  if (block->rows > 1) widened = (const char *)dot_weights(block->b, block->units, GEMM_INT8_VECTORS, block->room);
  for (int64_t p = 0; p < panels; ++p) {
    g[p] = p == 0 ? *block : g[p - 1];
    if (p > 0) move_on(&g[p]);
    set_numbers(&g[p], &numbers[p]);
  }
  /* A tile stores its results itself if that needs few registers. */
  const bool tiles_store = TILES_STORE && block->last && block->columns >= GEMM_INT8_COLUMNS && rounds_even(block);
  for (int64_t left = block->rows; left > 0;) {
    const int64_t rows = left < high ? left : high;
    int32_t *sums = g->sums == NULL ? own : g->sums;
    const bool stores = tiles_store && rows % DOT_JOINED == 0;
    const int64_t tiles = stores ? left / rows : 1, made = tiles * rows;
#if SIMD_WIDTH == 16 && SIMD_DOT
    if (panels > 1 && rows > 1) {
      run_pair_tile(g, sums, sums + next, rows);
    } else
#endif
      for (int64_t p = 0; p < panels; ++p) {
        run_tile(&g[p], stores ? numbers : NULL, rows == 1 ? (const char *)g[p].b : widened, sums + p * next, rows,
                 tiles);
      }
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t columns = g[p].columns < GEMM_INT8_COLUMNS ? g[p].columns : GEMM_INT8_COLUMNS;
      if (g[p].last && !stores) store(&g[p], &numbers[p], sums + p * next, rows, columns);
      g[p].a += made / DOT_JOINED * g[p].a_step;
      if (g[p].sums != NULL) g[p].sums += made * GEMM_INT8_COLUMNS;
      if (g[p].row_sums != NULL) g[p].row_sums += made;
      g[p].y += made * g[p].y_step;
      g[p].row += made;
    }
    left -= made;
  }
}

static void run_block(gemm_int8_block *g) {
  while (g->columns > 0 && g->rows > 0) {
    const int64_t panels = g->columns > GEMM_INT8_COLUMNS && g->rows > 1 ? MAX_PANELS : 1;
    run_panels(g, panels);
    for (int64_t p = 0; p < panels; ++p) move_on(g);
  }
}

void gemm_int8_prepare(gemm_int8_plan *plan, int64_t groups) {
  if (plan->is_whole) plan->y_zero = plan->low = plan->high = 0; /* integer sums are not clamped */
  mslite_plan_int8(groups, plan->n, plan->k, &gemm_int8_layout, &plan->packed);
  const int64_t units = plan->packed.units;
  mslite_gemm_plan *cut = &plan->plan;
  mslite_plan_gemm(plan->m, plan->n, units, GEMM_INT8_ROWS, GEMM_INT8_COLUMNS, cut);
  /* Each part gathers its own rows, which must take little time compared with the multiplications. */
  const int64_t panels = (plan->n + GEMM_INT8_COLUMNS - 1) / GEMM_INT8_COLUMNS;
  if (cut->panel_block < MIN_PANELS) {
    cut->panel_block = panels < MIN_PANELS ? panels : MIN_PANELS;
    cut->panel_blocks = (panels + cut->panel_block - 1) / cut->panel_block;
  }
  const int64_t steps = (units + GEMM_INT8_LARGEST_STEP - 1) / GEMM_INT8_LARGEST_STEP;
  if (cut->k_block > GEMM_INT8_LARGEST_STEP) cut->k_block = (units + steps - 1) / steps;
  const int64_t rows = cut->row_block + 1, columns = cut->panel_block * GEMM_INT8_COLUMNS;
  plan->a_step = round_up(cut->k_block * DOT_DEPTH, DOT_ARRANGES ? DOT_CHUNK : 1);
  const bool keeps_sums = cut->k_block < units;
  const int64_t elements = round_up(rows, DOT_JOINED) * plan->a_step * DOT_SPREAD + DOT_CHUNK;
  plan->staged_at = round_up(elements * (int64_t)sizeof(dot_element), 64);
  plan->sums_at = plan->staged_at;
  if (DOT_ARRANGES) plan->sums_at += round_up(GEMM_INT8_STAGED * plan->a_step + DOT_CHUNK, 64);
  plan->row_sums_at = plan->sums_at + (keeps_sums ? rows * columns * (int64_t)sizeof(int32_t) : 0);
  plan->room_at = plan->row_sums_at + (plan->has_zeros ? round_up(rows * (int64_t)sizeof(int32_t), 64) : 0);
  plan->bytes = plan->room_at;
  if (DOT_WIDENS) plan->bytes += cut->k_block * GEMM_INT8_COLUMNS * DOT_DEPTH * (int64_t)sizeof(dot_weight);
}

/* Unsigned bytes were read as signed ones: converts them to the unsigned value minus 128. */
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

/* Copies rows [row, row + count) of a block to `arranged`, in the order in which its tiles read them. */
static void arrange_rows(const gemm_int8_block *g, int64_t row, int64_t count, const dot_element *from, int64_t step,
                         dot_element *arranged) {
  enum { OF_ROW = DOT_STEP / DOT_JOINED };
  const int64_t high = tile_height(g->rows, 1), length = g->units * DOT_DEPTH, end = row + count;
  for (int64_t first = row / high * high; first < end; first += high) { /* tile by tile */
    const int64_t rows = g->rows - first < high ? g->rows - first : high, last = first + rows;
    dot_element *to = arranged + first / DOT_JOINED * g->a_step + (row - first) * OF_ROW;
    for (; row < last && row < end; row += DOT_JOINED, from += DOT_JOINED * step, to += DOT_STEP) {
      dot_arrange(from, step, length, to, round_up(rows, DOT_JOINED) * OF_ROW);
    }
  }
}

/* Returns how many of the first rows of a block are read directly from input 0. */
static int64_t rows_in_place(const gemm_int8_plan *plan, int64_t row, int64_t rows, int64_t k, int64_t length) {
  if (!plan->in_place || DOT_OFFSET != 0 || sizeof(dot_element) > 1 || plan->has_zeros || plan->k == 0) return 0;
  if (plan->is_whole && plan->operands.a_flip != 0) return 0;
  if (!DOT_ARRANGES) return plan->k % DOT_DEPTH == 0 ? rows : 0;
  /* Arranging reads whole chunks, and pairs of rows. */
  const int64_t end = plan->m * plan->k - k - round_up(length, DOT_CHUNK);
  const int64_t readable = (end < 0 ? 0 : end / plan->k + 1) - row;
  if (readable <= 0) return 0;
  return readable < rows ? readable / DOT_JOINED * DOT_JOINED : rows / DOT_JOINED * DOT_JOINED;
}

/* Prepares the rows of a step of k, `length` from k on, for the multiplication. */
static void stage_rows(const mslite_run *run, const gemm_int8_plan *plan, gemm_int8_stage stage, int64_t group,
                       gemm_int8_block *g, int64_t k, int64_t length, int32_t *row_sums) {
  char *scratch = run->scratch;
  const int64_t in_place = rows_in_place(plan, g->row, g->rows, k, length);
  if (in_place > 0) {
    const dot_element *x = (const dot_element *)run->inputs[0] + g->row * plan->k + k;
    if (!DOT_ARRANGES) {
      g->a = x;
      g->a_step = plan->k;
      return;
    }
    arrange_rows(g, 0, in_place, x, plan->k, (dot_element *)(void *)scratch);
  }
  const int64_t step = plan->a_step, most = DOT_ARRANGES ? GEMM_INT8_STAGED : g->rows;
  dot_element *staged = (dot_element *)(void *)(DOT_ARRANGES ? scratch + plan->staged_at : scratch);
  for (int64_t row = in_place; row < g->rows; row += most) {
    const int64_t rows = g->rows - row < most ? g->rows - row : most;
    stage(run, group, g->row + row, rows, k, length, step, staged);
    if (plan->is_whole && plan->operands.a_flip != 0) flip_elements(staged, step, rows, length);
    if (row_sums != NULL) add_row_sums(staged, step, rows, length, row_sums + row);
    if (DOT_ARRANGES) arrange_rows(g, row, rows, staged, step, (dot_element *)(void *)scratch);
  }
}

void gemm_int8_part(const mslite_run *run, const gemm_int8_plan *plan, gemm_int8_stage stage, int64_t groups,
                    int32_t part) {
  const mslite_gemm_plan *cut = &plan->plan;
  const mslite_int8_packed *packed = &plan->packed;
  /* The larger one of weights and rows is read once, the other repeatedly from the cache. */
  const bool rows_first = plan->n >= plan->m;
  const int64_t panel_part = rows_first ? part / cut->row_blocks % cut->panel_blocks : part % cut->panel_blocks;
  const int64_t row_part = rows_first ? part % cut->row_blocks : part / cut->panel_blocks % cut->row_blocks;
  const int64_t column = panel_part * cut->panel_block * GEMM_INT8_COLUMNS, row = row_part * cut->row_block;
  const int64_t group = part / (cut->panel_blocks * cut->row_blocks);
  const int64_t last_column = column + cut->panel_block * GEMM_INT8_COLUMNS;
  const int64_t channel = group * packed->padded + column;
  const char *weights = run->inputs[1];
  char *scratch = run->scratch;
  const int64_t result_size = plan->is_whole ? (int64_t)sizeof(int32_t) : 1;
  const int32_t *numbers[4];
  const int64_t places[4] = {packed->bias, packed->value, packed->shift, packed->zero};
  for (int32_t i = 0; i < 4; ++i) numbers[i] = (const int32_t *)(const void *)(weights + places[i]) + channel;
  int32_t *row_sums = plan->has_zeros ? (int32_t *)(void *)(scratch + plan->row_sums_at) : NULL;
  gemm_int8_block g = {
      .a = (const dot_element *)(const void *)scratch,
      .a_step = plan->a_step * DOT_SPREAD * DOT_JOINED,
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
      .apart = DOT_WOVEN > 1 && *(const int32_t *)(const void *)(weights + packed->overflows) != 0,
      .y_zero = plan->y_zero,
      .low = plan->low,
      .high = plan->high,
      .room = (dot_weight *)(void *)(scratch + plan->room_at),
  };
  if (plan->is_whole) {
    /* The bias array contains the sums of the columns; weight_zero is not used. */
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
    stage_rows(run, plan, stage, group, &g, k, length, row_sums);
    g.b = panel + unit * GEMM_INT8_COLUMNS * DOT_DEPTH;
    gemm_int8_block own = g;
    run_block(&own);
    unit += g.units;
  } while (unit < packed->units);
}
