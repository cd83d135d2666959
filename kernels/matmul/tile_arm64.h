/* The register tile of the float32 GEMM in assembly for 64-bit ARM: the same sums in the same order as
 * matmul/tile.h, which generated C and other processors use. It loads four vectors of b with one instruction;
 * compilers do not allocate the four consecutive registers for that without copies. 91 instructions for 80 vector
 * multiply-adds, compared with 101 or more from compilers.
 *
 * v0 to v3 are one step of k of the panel of b, and the limits at the end; v4 to v8 four steps of k of each row of
 * a; v12 to v31 the sums. x8 counts k, x9 to x13 are the addresses in the rows of a, x14 that in b, x15 that in the
 * offsets, x16 counts pieces. */
#ifndef MSLITE_MATMUL_TILE_ARM64_H
#define MSLITE_MATMUL_TILE_ARM64_H

#include "matmul/gemm.h"

/* clang-format off */
/* each(row, register of its a, register of its address, registers of its four sums), for the rows of a tile. */
#define GEMM_ROWS_1(each) each(0, 4, 9, 12, 13, 14, 15)
#define GEMM_ROWS_2(each) GEMM_ROWS_1(each) each(1, 5, 10, 16, 17, 18, 19)
#define GEMM_ROWS_3(each) GEMM_ROWS_2(each) each(2, 6, 11, 20, 21, 22, 23)
#define GEMM_ROWS_4(each) GEMM_ROWS_3(each) each(3, 7, 12, 24, 25, 26, 27)
#define GEMM_ROWS_5(each) GEMM_ROWS_4(each) each(4, 8, 13, 28, 29, 30, 31)

#define GEMM_FIND(row, a, at, s, t, u, v) "ldr x" #at ", [%[a], #8 * " #row "]\nadd x" #at ", x" #at ", x8, lsl #2\n"
#define GEMM_LOAD_FOUR(row, a, at, s, t, u, v) "ldr q" #a ", [x" #at "], #16\n"
#define GEMM_LOAD_ONE(row, a, at, s, t, u, v) "ldr s" #a ", [x" #at "], #4\n"
#define GEMM_ONE(operation, with, sum) operation " v" #sum ".4s, v" #sum ".4s, " with ".4s\n"

/* The differences between a whole panel, four vectors, and its first half: two vectors, 16 floats of b per step. */
#define GEMM_STEP_4 "ld1 {v0.4s-v3.4s}, [x14], #64\n"
#define GEMM_STEP_2 "ldp q0, q1, [x14], #64\n"
#define GEMM_START_4(row, a, at, s, t, u, v) "ld1 {v" #s ".4s-v" #v ".4s}, [%[start]], %[start_step]\n"
#define GEMM_START_2(row, a, at, s, t, u, v) "ld1 {v" #s ".4s-v" #t ".4s}, [%[start]], %[start_step]\n"
#define GEMM_MULTIPLY_4(row, a, at, s, t, u, v) \
  GEMM_MULTIPLY_2(row, a, at, s, t, u, v) GEMM_MULTIPLY(u, 2, a) GEMM_MULTIPLY(v, 3, a)
#define GEMM_MULTIPLY_2(row, a, at, s, t, u, v) GEMM_MULTIPLY(s, 0, a) GEMM_MULTIPLY(t, 1, a)
#define GEMM_MULTIPLY(sum, b, a) "fmla v" #sum ".4s, v" #b ".4s, v" #a ".s[\\lane]\n"
#define GEMM_RESIDUAL_4(row, a, at, s, t, u, v)         \
  "ld1 {v0.4s-v3.4s}, [%[residual]], %[c_step]\n"       \
  GEMM_ONE("fadd", "v0", s) GEMM_ONE("fadd", "v1", t) GEMM_ONE("fadd", "v2", u) GEMM_ONE("fadd", "v3", v)
#define GEMM_RESIDUAL_2(row, a, at, s, t, u, v)   \
  "ld1 {v0.4s-v1.4s}, [%[residual]], %[c_step]\n" \
  GEMM_ONE("fadd", "v0", s) GEMM_ONE("fadd", "v1", t)
#define GEMM_NAMES_4(row, a, at, s, t, u, v) ", " #s ", " #t ", " #u ", " #v
#define GEMM_NAMES_2(row, a, at, s, t, u, v) ", " #s ", " #t
#define GEMM_STORE_4(row, a, at, s, t, u, v) "st1 {v" #s ".4s-v" #v ".4s}, [%[c]], %[c_step]\n"
#define GEMM_STORE_2(row, a, at, s, t, u, v) "st1 {v" #s ".4s-v" #t ".4s}, [%[c]], %[c_step]\n"

/* gemm_arm64_<rows>_<vectors>(): computes `tiles` tiles, at least one, one below the other, from the beginning of
 * `g`. `fetch`: b is not in a cache yet. */
#define GEMM_TILES_ARM64(rows, vectors)                                                                              \
  static __attribute__((noinline)) void gemm_arm64_##rows##_##vectors(const gemm_block *g, int64_t tiles, bool fetch) { \
    static const float zeros[GEMM_COLUMNS];                                                                          \
    const int64_t c_step = g->c_step * (int64_t)sizeof(float);                                                       \
    const float *start = g->accumulate ? g->c : g->bias != NULL ? g->bias : zeros, *residual = g->residual;          \
    const simd_real *const *a = g->a;                                                                                \
    float *c = g->c;                                                                                                 \
    int64_t fetched = fetch;                                                                                         \
    __asm__ volatile(                                                                                                \
        "0:\n" /* a tile */                                                                                          \
        GEMM_ROWS_##rows(GEMM_START_##vectors)                                                                       \
        "mov x14, %[b]\n"                                                                                            \
        "mov x15, %[offsets]\n"                                                                                      \
        "mov x16, %[pieces]\n"                                                                                       \
        "1:\n" /* a piece: where the rows of a are */                                                                \
        "ldr x8, [x15], #8\n"                                                                                        \
        GEMM_ROWS_##rows(GEMM_FIND)                                                                                  \
        "subs x8, %[k], #4\n"                                                                                        \
        "b.lt 4f\n"                                                                                                  \
        ".irp fetch, 1, 0\n" /* one loop that fetches b ahead, one that does not */                                  \
        ".if \\fetch\n"                                                                                              \
        "cbz %[fetched], 3f\n"                                                                                       \
        ".endif\n"                                                                                                   \
        "2:\n" /* four steps of k */                                                                                 \
        GEMM_ROWS_##rows(GEMM_LOAD_FOUR)                                                                             \
        ".irp lane, 0, 1, 2, 3\n"                                                                                    \
        ".if \\fetch\n"                                                                                              \
        "prfm pldl1keep, [x14, #1024]\n"                                                                             \
        ".endif\n"                                                                                                   \
        GEMM_STEP_##vectors GEMM_ROWS_##rows(GEMM_MULTIPLY_##vectors)                                                \
        ".endr\n"                                                                                                    \
        "subs x8, x8, #4\n"                                                                                          \
        "b.ge 2b\n"                                                                                                  \
        ".if \\fetch\n"                                                                                              \
        "b 4f\n"                                                                                                     \
        "3:\n"                                                                                                       \
        ".endif\n"                                                                                                   \
        ".endr\n"                                                                                                    \
        "4:\n"                                                                                                       \
        "adds x8, x8, #4\n"                                                                                          \
        "b.eq 6f\n"                                                                                                  \
        "5:\n" /* one step of k */                                                                                   \
        GEMM_ROWS_##rows(GEMM_LOAD_ONE)                                                                              \
        ".irp lane, 0\n" GEMM_STEP_##vectors GEMM_ROWS_##rows(GEMM_MULTIPLY_##vectors) ".endr\n"                     \
        "subs x8, x8, #1\n"                                                                                          \
        "b.ne 5b\n"                                                                                                  \
        "6:\n"                                                                                                       \
        "subs x16, x16, #1\n"                                                                                        \
        "b.ne 1b\n"                                                                                                  \
        "cbz %[residual], 7f\n"                                                                                      \
        GEMM_ROWS_##rows(GEMM_RESIDUAL_##vectors)                                                                    \
        "7:\n"                                                                                                       \
        "cbz %w[has_low], 8f\n"                                                                                      \
        "ld1r {v0.4s}, [%[low]]\n"                                                                                   \
        ".irp sum" GEMM_ROWS_##rows(GEMM_NAMES_##vectors) "\n"                                                       \
        "fmax v\\sum\\().4s, v\\sum\\().4s, v0.4s\n"                                                                 \
        ".endr\n"                                                                                                    \
        "8:\n"                                                                                                       \
        "cbz %w[has_high], 9f\n"                                                                                     \
        "ld1r {v1.4s}, [%[high]]\n"                                                                                  \
        ".irp sum" GEMM_ROWS_##rows(GEMM_NAMES_##vectors) "\n"                                                       \
        "fmin v\\sum\\().4s, v\\sum\\().4s, v1.4s\n"                                                                 \
        ".endr\n"                                                                                                    \
        "9:\n"                                                                                                       \
        GEMM_ROWS_##rows(GEMM_STORE_##vectors)                                                                       \
        "mov %[fetched], #0\n"                                                                                       \
        "add %[a], %[a], #8 * " #rows "\n"                                                                           \
        "subs %[tiles], %[tiles], #1\n"                                                                              \
        "b.ne 0b\n"                                                                                                  \
        : [start] "+r"(start), [a] "+r"(a), [c] "+r"(c), [residual] "+r"(residual), [tiles] "+r"(tiles),             \
          [fetched] "+r"(fetched)                                                                                    \
        : [start_step] "r"(g->accumulate ? c_step : (int64_t)0), [b] "r"(g->b), [offsets] "r"(g->offsets),           \
          [pieces] "r"(g->pieces), [k] "r"(g->k), [c_step] "r"(c_step), [low] "r"(&g->low), [high] "r"(&g->high),    \
          [has_low] "r"(g->low > -INFINITY), [has_high] "r"(g->high < INFINITY)                                      \
        : "cc", "memory", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "v0", "v1", "v2", "v3", "v4", \
          "v5", "v6", "v7", "v8", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",       \
          "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");                                            \
  }
/* clang-format on */

GEMM_TILES_ARM64(3, 4)
GEMM_TILES_ARM64(4, 4)
GEMM_TILES_ARM64(5, 4)
GEMM_TILES_ARM64(3, 2)
GEMM_TILES_ARM64(4, 2)
GEMM_TILES_ARM64(5, 2)

/* Computes `tiles` tiles of `rows` rows, one below the other. Returns false if compiled C must compute them. */
static inline bool gemm_tiles_arm64(const gemm_block *g, int64_t rows, int64_t tiles, int32_t vectors, bool fetch) {
  typedef void (*function)(const gemm_block *, int64_t, bool);
  static const function functions[2][3] = {{gemm_arm64_3_2, gemm_arm64_4_2, gemm_arm64_5_2},
                                           {gemm_arm64_3_4, gemm_arm64_4_4, gemm_arm64_5_4}};
  if (rows < 3 || g->pieces < 1) return false;
  functions[vectors == GEMM_VECTORS][rows - 3](g, tiles, fetch);
  return true;
}

#endif
