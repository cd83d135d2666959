/* Whether the assembly tiles of products give the bits of the compiled ones: every height and width, pieces, lengths,
 * starts and limits. Built for float32 and for float16, whose sums are cut as k runs. The source is included, because
 * tiles are nobody else's business. */
#include "matmul/gemm_vector.c"

#include <stdio.h>

enum { MAX_TILES = 3, MAX_K = SIMD_HALF ? 150 : 23, MAX_PIECES = 3, PIECE_STEP = MAX_K + 9 };
enum { MAX_ROWS = GEMM_ROWS * MAX_TILES, STEP = GEMM_COLUMNS + 3 };
/* Narrow tiles of float16 are compiled C alone. */
enum { NARROWEST = SIMD_HALF ? GEMM_VECTORS : GEMM_FEWEST };

static simd_real left[MAX_ROWS][MAX_PIECES * PIECE_STEP], right[MAX_PIECES * MAX_K * GEMM_COLUMNS];
static simd_real before[MAX_ROWS * STEP], residual[MAX_ROWS * STEP], bias[GEMM_COLUMNS];
static simd_real assembled[MAX_ROWS * STEP], compiled[MAX_ROWS * STEP];
static uint32_t state = 1;

static uint32_t random_bits(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(simd_real *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) x[i] = (simd_real)((float)((int32_t)(random_bits() % 20001u) - 10000) / 1024.0f);
}

/* One product both ways; 1 where they differ. */
static int differ(int32_t rows, int32_t vectors, bool fetch) {
  const int64_t tiles = 1 + random_bits() % MAX_TILES, pieces = 1 + random_bits() % MAX_PIECES;
  const uint32_t kind = random_bits();
  const simd_real *a[MAX_ROWS];
  int64_t offsets[MAX_PIECES];
  for (int64_t r = 0; r < MAX_ROWS; ++r) a[r] = left[r];
  for (int64_t p = 0; p < pieces; ++p) offsets[p] = p * PIECE_STEP + random_bits() % 8;
  gemm_block block = {
      .a = a,
      .offsets = offsets,
      .pieces = pieces,
      .k = 1 + random_bits() % MAX_K,
      .b = right,
      .c_step = STEP,
      .bias = (kind & 1u) != 0 ? bias : NULL,
      .residual = (kind & 2u) != 0 ? residual : NULL,
      .rows = rows * tiles,
      .columns = vectors * GEMM_LANES,
      .accumulate = !SIMD_HALF && (kind & 4u) != 0,
      .low = (kind & 8u) != 0 ? -4.0f : -INFINITY,
      .high = (kind & 16u) != 0 ? 6.0f : INFINITY,
  };
#if SIMD_HALF
  static simd_real total[GEMM_SUMS * GEMM_LANES];
  block.total = total;
#endif
  memcpy(assembled, before, sizeof before);
  memcpy(compiled, before, sizeof before);
  block.c = assembled;
  if (!gemm_tiles_arm64(&block, rows, tiles, vectors, fetch)) return 1;
  block.c = compiled;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    if (vectors == GEMM_VECTORS) {
      gemm_one_panel(&block, rows);
    } else {
      gemm_half_panel(&block, rows);
    }
    gemm_next_row(&block, rows);
  }
  if (memcmp(assembled, compiled, sizeof compiled) == 0) return 0;
  printf("%d rows, %d vectors, %d tiles, %d pieces of %d, kind %u: other bits\n", (int)rows, (int)vectors, (int)tiles,
         (int)pieces, (int)block.k, (unsigned)(kind & 31u));
  return 1;
}

int main(void) {
  int failures = 0, compared = 0;
  fill(left[0], (int64_t)(sizeof left / sizeof **left));
  fill(right, (int64_t)(sizeof right / sizeof *right));
  fill(before, (int64_t)(sizeof before / sizeof *before));
  fill(residual, (int64_t)(sizeof residual / sizeof *residual));
  fill(bias, GEMM_COLUMNS);
  left[1][3] = NAN;
  right[7] = -0.0f;
  for (int32_t rows = 3; rows <= GEMM_ROWS; ++rows) {
    for (int32_t vectors = NARROWEST; vectors <= GEMM_VECTORS; vectors += GEMM_FEWEST) {
      for (int32_t i = 0; i < 400; ++i, ++compared) failures += differ(rows, vectors, i % 2 == 0);
    }
  }
  printf("%d products compared, %d with other bits\n", compared, failures);
  return failures > 0;
}
