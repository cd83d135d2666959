/* Winograd convolution: selection, partitioning and packing. */
#include "convolution/winograd.h"

#include <string.h>

#include "matmul/pack.h"
#include "unary/half.h"

enum { SMALLEST_PART = 1 << 18, MAX_PARTS = 48, FUSED_FLOATS = 1 << 16, CHUNK_PANELS = 2 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Estimates the cycles of a core that does 16 multiply-accumulates and reads 6 bytes of weights, `size` bytes each,
 * per cycle. */
static double product_cost(double rows, double weights, int32_t size) {
  const double compute = rows * weights / 15.0, memory = weights * size / 6.0;
  return compute > memory ? compute : memory;
}

static double winograd_cost(const mslite_convolution *g, int32_t m, int32_t size, bool packs) {
  const double points = (m + 2) * (m + 2), pairs = (double)g->in_channels * (double)g->out_channels;
  const double tiles = (double)(g->batch * divide_up(g->height.output, m) * divide_up(g->width.output, m));
  const double transforms = tiles * points * (0.35 * (double)g->in_channels + 0.2 * (double)g->out_channels);
  return product_cost(tiles, points * pairs, size) + transforms + (packs ? 0.6 * points * pairs : 0.0);
}

bool mslite_winograd_is_faster(const mslite_convolution *g, int32_t m, int32_t size, bool packs) {
  const bool possible = g->height.kernel == 3 && g->width.kernel == 3 && g->height.stride == 1 &&
                        g->width.stride == 1 && g->height.dilation == 1 && g->width.dilation == 1 && g->group == 1 &&
                        g->in_channels >= 8 && g->out_channels >= 8;
  if (!possible) return false;
  const double rows = (double)(g->batch * g->height.output * g->width.output);
  const double direct = product_cost(rows, 9.0 * (double)g->in_channels * (double)g->out_channels, size);
  const double mine = winograd_cost(g, m, size, packs), other = winograd_cost(g, m == 2 ? 4 : 2, size, packs);
  return mine < 0.9 * direct && (m == 4 ? mine <= other : mine < other);
}

void mslite_plan_winograd(const mslite_convolution *g, int32_t m, int32_t height, int32_t width,
                          mslite_winograd_plan *plan) {
  const int64_t points = (m + 2) * (m + 2);
  plan->across = divide_up(g->width.output, m);
  plan->down = divide_up(g->height.output, m);
  plan->tiles = g->batch * plan->across * plan->down;
  plan->panels = divide_up(g->out_channels, width);
  const double work = (double)(plan->tiles * points) * (double)g->in_channels * (double)g->out_channels;
  const int64_t wanted = larger(
      1, work >= (double)MAX_PARTS * (double)SMALLEST_PART ? MAX_PARTS : (int64_t)(work / (double)SMALLEST_PART));
  /* Fused: a part transforms its own tiles, which stay in the L2 cache. */
  const int64_t fused_tiles = FUSED_FLOATS / (points * g->in_channels) / height * height;
  plan->shared = fused_tiles < 2 * height || plan->tiles < 8 * fused_tiles;
  const int64_t most = plan->shared ? MSLITE_WINOGRAD_MAX_TILES : smaller(fused_tiles, MSLITE_WINOGRAD_MAX_TILES);
  plan->tile_blocks = larger(1, divide_up(plan->tiles, most));
  plan->tile_block = larger(1, divide_up(plan->tiles, plan->tile_blocks));
  plan->tile_blocks = divide_up(plan->tiles, plan->tile_block);
  const int64_t chunks = divide_up(plan->panels, CHUNK_PANELS);
  const int64_t splits = plan->shared ? smaller(chunks, divide_up(wanted, larger(1, plan->tile_blocks))) : 1;
  plan->panel_block = divide_up(chunks, splits) * CHUNK_PANELS;
  plan->panel_blocks = divide_up(plan->panels, plan->panel_block);
}

int64_t mslite_winograd_packed_floats(const mslite_convolution *g, int32_t m, int32_t width) {
  return (m + 2) * (m + 2) * mslite_packed_floats(g->in_channels, g->out_channels, width);
}

static const double G2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
/* For the points 0, -+sqrt(1/2), -+sqrt(2): the rounding error is a fifth of that for 0, -+1, -+2. */
#define ROOT 1.41421356237309504880
static const double G4[6][3] = {{1, 0, 0},
                                {-2.0 / 3, -ROOT / 3, -1.0 / 3},
                                {-2.0 / 3, ROOT / 3, -1.0 / 3},
                                {1.0 / 6, ROOT / 6, 1.0 / 3},
                                {1.0 / 6, -ROOT / 6, 1.0 / 3},
                                {0, 0, 1}};

enum { PACK_BLOCK = 16 }; /* input channels at a time */

/* half = G g for `count` adjacent channels of one filter; `g` is its first weight, [3][3][in]. */
static void transform_rows(const double (*transform)[3], int32_t side, const float *g, int64_t in, int64_t count,
                           double half[6][3][PACK_BLOCK]) {
  for (int32_t i = 0; i < side; ++i) {
    for (int32_t j = 0; j < 3; ++j) {
      const float *top = g + j * in, *middle = top + 3 * in, *bottom = middle + 3 * in;
      for (int64_t c = 0; c < count; ++c) {
        half[i][j][c] = transform[i][0] * (double)top[c] + transform[i][1] * (double)middle[c] +
                        transform[i][2] * (double)bottom[c];
      }
    }
  }
}

/* Computes one point of (G g) G^T for the same channels. */
static void transform_columns(const double transform[3], double half[3][PACK_BLOCK], int64_t count, float *point) {
  for (int64_t c = 0; c < count; ++c) {
    point[c] = (float)(half[0][c] * transform[0] + half[1][c] * transform[1] + half[2][c] * transform[2]);
  }
}

/* Writes float32 to `packed`, or float16 to `packed_half` if it is NULL. */
static void pack(const mslite_convolution *g, int32_t m, int32_t width, const float *weight, float *packed,
                 uint16_t *packed_half) {
  const int32_t side = m + 2;
  const int64_t in = g->in_channels, out = g->out_channels, point_step = mslite_packed_floats(in, out, width);
  const double(*transform)[3] = m == 2 ? G2 : G4;
  for (int64_t panel = 0; panel < divide_up(out, width); ++panel) {
    for (int64_t c = 0; c < in; c += PACK_BLOCK) {
      const int64_t count = smaller(PACK_BLOCK, in - c);
      for (int64_t o = panel * width; o < smaller(out, (panel + 1) * width); ++o) {
        double half[6][3][PACK_BLOCK];
        transform_rows(transform, side, weight + o * 9 * in + c, in, count, half);
        int64_t at = (panel * in + c) * width + o % width;
        for (int32_t i = 0; i < side * side; ++i, at += point_step) {
          float point[PACK_BLOCK];
          transform_columns(transform[i % side], half[i / side], count, point);
          for (int64_t k = 0; k < count; ++k) {
            if (packed != NULL) {
              packed[at + k * width] = point[k];
            } else {
              packed_half[at + k * width] = mslite_half_of_float(point[k]);
            }
          }
        }
      }
    }
  }
}

void mslite_winograd_pack(const mslite_convolution *g, int32_t m, int32_t width, const float *weight, float *packed) {
  memset(packed, 0, (size_t)mslite_winograd_packed_floats(g, m, width) * sizeof *packed);
  pack(g, m, width, weight, packed, NULL);
}

void mslite_winograd_pack_half(const mslite_convolution *g, int32_t m, int32_t width, const float *weight,
                               uint16_t *packed) {
  memset(packed, 0, (size_t)mslite_winograd_packed_floats(g, m, width) * sizeof *packed);
  pack(g, m, width, weight, NULL, packed);
}
