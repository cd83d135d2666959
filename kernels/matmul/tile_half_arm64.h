/* The register tile of the float16 GEMM in assembly: the same sums in the same order as matmul/tile_half.h, two
 * vectors wide. It loads the vectors of two steps of k with one instruction and multiplies by a lane in place;
 * compilers copy lanes or vectors for that. 142 instructions for 128 vector multiply-adds, compared with 148 or more
 * from compilers.
 *
 * v0 to v3 are two steps of k of the panel of b, and the limits at the end; v4 to v11 eight steps of k of each row
 * of a; v16 to v31 the sums. x0 to x7 are the addresses in the rows of a, x8 counts k of a piece, x9 the steps of it
 * before the next cut, x10 is the address in b, x11 that in the offsets, x12 counts pieces, x13 counts the steps up
 * to the cut, x14 is 1 if there are totals of previous steps, x15 is their address. */
#ifndef MSLITE_MATMUL_TILE_HALF_ARM64_H
#define MSLITE_MATMUL_TILE_HALF_ARM64_H

#include <stddef.h>

#include "matmul/gemm.h"

/* C99 limits strings to 4095 characters; both compilers that support this assembly accept longer ones. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* clang-format off */
/* each(row, register of its a, register of its address, registers of its two sums), for the rows of a tile. */
#define GEMM_ROWS_1(each) each(0, 4, 0, 16, 17)
#define GEMM_ROWS_2(each) GEMM_ROWS_1(each) each(1, 5, 1, 18, 19)
#define GEMM_ROWS_3(each) GEMM_ROWS_2(each) each(2, 6, 2, 20, 21)
#define GEMM_ROWS_4(each) GEMM_ROWS_3(each) each(3, 7, 3, 22, 23)
#define GEMM_ROWS_5(each) GEMM_ROWS_4(each) each(4, 8, 4, 24, 25)
#define GEMM_ROWS_6(each) GEMM_ROWS_5(each) each(5, 9, 5, 26, 27)
#define GEMM_ROWS_7(each) GEMM_ROWS_6(each) each(6, 10, 6, 28, 29)
#define GEMM_ROWS_8(each) GEMM_ROWS_7(each) each(7, 11, 7, 30, 31)

#define GEMM_START(row, a, at, s, t) "ld1 {v" #s ".8h-v" #t ".8h}, [%[start]]\n"
#define GEMM_FIND(row, a, at, s, t) "ldr x" #at ", [%[a], #8 * " #row "]\nadd x" #at ", x" #at ", x15, lsl #1\n"
#define GEMM_LOAD_EIGHT(row, a, at, s, t) "ldr q" #a ", [x" #at "], #16\n"
#define GEMM_LOAD_FOUR(row, a, at, s, t) "ldr d" #a ", [x" #at "], #8\n"
#define GEMM_LOAD_ONE(row, a, at, s, t) "ldr h" #a ", [x" #at "], #2\n"
#define GEMM_FMLA(sum, b, a, lane) "fmla v" #sum ".8h, v" #b ".8h, v" #a ".h[" lane "]\n"
#define GEMM_FIRST(row, a, at, s, t) GEMM_FMLA(s, 0, a, "\\lane") GEMM_FMLA(t, 1, a, "\\lane")
#define GEMM_SECOND(row, a, at, s, t) GEMM_FMLA(s, 2, a, "\\lane + 1") GEMM_FMLA(t, 3, a, "\\lane + 1")
#define GEMM_ADD(sum, with) "fadd v" #sum ".8h, v" #sum ".8h, v" #with ".8h\n"
#define GEMM_ADD_TOTAL(row, a, at, s, t) "ldp q0, q1, [x15, #32 * " #row "]\n" GEMM_ADD(s, 0) GEMM_ADD(t, 1)
#define GEMM_STORE_TOTAL(row, a, at, s, t) "stp q" #s ", q" #t ", [x15, #32 * " #row "]\n"
#define GEMM_ZERO(row, a, at, s, t) "movi v" #s ".8h, #0\nmovi v" #t ".8h, #0\n"
#define GEMM_RESIDUAL(row, a, at, s, t) "ld1 {v0.8h-v1.8h}, [%[residual]], %[c_step]\n" GEMM_ADD(s, 0) GEMM_ADD(t, 1)
#define GEMM_NAMES(row, a, at, s, t) ", " #s ", " #t
#define GEMM_STORE(row, a, at, s, t) "st1 {v" #s ".8h-v" #t ".8h}, [%[c]], %[c_step]\n"

/* `lanes`: every second of the steps of k that are loaded from a. */
#define GEMM_STEPS(rows, lanes)             \
  ".irp lane, " lanes "\n"                  \
  "ld1 {v0.8h-v3.8h}, [x10], #64\n"         \
  GEMM_ROWS_##rows(GEMM_FIRST) GEMM_ROWS_##rows(GEMM_SECOND) \
  ".endr\n"

/* gemm_half_arm64_<rows>(): computes `tiles` tiles, at least one, one below the other, from the beginning of `g`. */
#define GEMM_TILES_HALF_ARM64(rows)                                                                                 \
  static __attribute__((noinline)) void gemm_half_arm64_##rows(const gemm_block *g, int64_t tiles) {                \
    static const simd_real zeros[GEMM_COLUMNS];                                                                     \
    const simd_real *start = g->bias != NULL ? g->bias : zeros, *residual = g->residual;                            \
    const simd_real low = (simd_real)g->low, high = (simd_real)g->high;                                             \
    const simd_real *const *a = g->a;                                                                               \
    simd_real *c = g->c;                                                                                            \
    __asm__ volatile(                                                                                               \
        "0:\n" /* a tile */                                                                                         \
        GEMM_ROWS_##rows(GEMM_START)                                                                                \
        "ldr x10, [%[g], %[b]]\n"                                                                                   \
        "ldr x11, [%[g], %[offsets]]\n"                                                                             \
        "ldr x12, [%[g], %[pieces]]\n"                                                                              \
        "mov x13, %[most]\n"                                                                                       \
        "mov x14, #0\n"                                                                                             \
        "1:\n" /* a piece: where the rows of a are */                                                               \
        "ldr x15, [x11], #8\n"                                                                                      \
        GEMM_ROWS_##rows(GEMM_FIND)                                                                                 \
        "ldr x8, [%[g], %[k]]\n"                                                                                    \
        "2:\n" /* what of the piece is left, up to the cut */                                                       \
        "cbz x8, 10f\n"                                                                                             \
        "cbnz x13, 5f\n"                                                                                            \
        "ldr x15, [%[g], %[total]]\n"                                                                               \
        "cbz x14, 4f\n"                                                                                             \
        GEMM_ROWS_##rows(GEMM_ADD_TOTAL)                                                                            \
        "4:\n"                                                                                                      \
        GEMM_ROWS_##rows(GEMM_STORE_TOTAL)                                                                          \
        GEMM_ROWS_##rows(GEMM_ZERO)                                                                                 \
        "mov x13, %[most]\n"                                                                                       \
        "mov x14, #1\n"                                                                                             \
        "5:\n"                                                                                                      \
        "cmp x8, x13\n"                                                                                             \
        "csel x9, x8, x13, lt\n"                                                                                    \
        "sub x8, x8, x9\n"                                                                                          \
        "sub x13, x13, x9\n"                                                                                        \
        "subs x9, x9, #8\n"                                                                                         \
        "b.lt 7f\n"                                                                                                 \
        "6:\n" /* eight steps of k */                                                                               \
        GEMM_ROWS_##rows(GEMM_LOAD_EIGHT)                                                                           \
        GEMM_STEPS(rows, "0, 2, 4, 6")                                                                              \
        "subs x9, x9, #8\n"                                                                                         \
        "b.ge 6b\n"                                                                                                 \
        "7:\n" /* four */                                                                                           \
        "adds x9, x9, #4\n"                                                                                         \
        "b.lt 8f\n"                                                                                                 \
        GEMM_ROWS_##rows(GEMM_LOAD_FOUR)                                                                            \
        GEMM_STEPS(rows, "0, 2")                                                                                    \
        "sub x9, x9, #4\n"                                                                                          \
        "8:\n"                                                                                                      \
        "adds x9, x9, #4\n"                                                                                         \
        "b.eq 2b\n"                                                                                                 \
        "9:\n" /* one step of k */                                                                                  \
        GEMM_ROWS_##rows(GEMM_LOAD_ONE)                                                                             \
        "ldp q0, q1, [x10], #32\n"                                                                                  \
        ".irp lane, 0\n" GEMM_ROWS_##rows(GEMM_FIRST) ".endr\n"                                                     \
        "subs x9, x9, #1\n"                                                                                         \
        "b.ne 9b\n"                                                                                                 \
        "b 2b\n"                                                                                                    \
        "10:\n"                                                                                                     \
        "subs x12, x12, #1\n"                                                                                       \
        "b.ne 1b\n"                                                                                                 \
        "cbz x14, 11f\n"                                                                                            \
        "ldr x15, [%[g], %[total]]\n"                                                                               \
        GEMM_ROWS_##rows(GEMM_ADD_TOTAL)                                                                            \
        "11:\n"                                                                                                     \
        "cbz %[residual], 12f\n"                                                                                    \
        GEMM_ROWS_##rows(GEMM_RESIDUAL)                                                                             \
        "12:\n"                                                                                                     \
        "cbz %w[has_low], 13f\n"                                                                                    \
        "ld1r {v0.8h}, [%[low]]\n"                                                                                  \
        ".irp sum" GEMM_ROWS_##rows(GEMM_NAMES) "\n"                                                                \
        "fmax v\\sum\\().8h, v\\sum\\().8h, v0.8h\n"                                                                \
        ".endr\n"                                                                                                   \
        "13:\n"                                                                                                     \
        "cbz %w[has_high], 14f\n"                                                                                   \
        "ld1r {v1.8h}, [%[high]]\n"                                                                                 \
        ".irp sum" GEMM_ROWS_##rows(GEMM_NAMES) "\n"                                                                \
        "fmin v\\sum\\().8h, v\\sum\\().8h, v1.8h\n"                                                                \
        ".endr\n"                                                                                                   \
        "14:\n"                                                                                                     \
        GEMM_ROWS_##rows(GEMM_STORE)                                                                                \
        "add %[a], %[a], #8 * " #rows "\n"                                                                          \
        "subs %[tiles], %[tiles], #1\n"                                                                             \
        "b.ne 0b\n"                                                                                                 \
        : [a] "+r"(a), [c] "+r"(c), [residual] "+r"(residual), [tiles] "+r"(tiles)                                  \
        : [g] "r"(g), [start] "r"(start), [c_step] "r"(g->c_step * (int64_t)sizeof *c), [low] "r"(&low),            \
          [high] "r"(&high), [has_low] "r"(g->low > -INFINITY), [has_high] "r"(g->high < INFINITY),                 \
          [most] "i"(GEMM_SHORT), [b] "i"(offsetof(gemm_block, b)), [offsets] "i"(offsetof(gemm_block, offsets)),  \
          [pieces] "i"(offsetof(gemm_block, pieces)), [k] "i"(offsetof(gemm_block, k)),                             \
          [total] "i"(offsetof(gemm_block, total))                                                                  \
        : "cc", "memory", "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",   \
          "x14", "x15", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v16", "v17",     \
          "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");        \
  }
/* clang-format on */

GEMM_TILES_HALF_ARM64(3)
GEMM_TILES_HALF_ARM64(4)
GEMM_TILES_HALF_ARM64(5)
GEMM_TILES_HALF_ARM64(6)
GEMM_TILES_HALF_ARM64(7)
GEMM_TILES_HALF_ARM64(8)

/* Computes `tiles` tiles of `rows` rows, one below the other. Returns false if compiled C must compute them. */
static inline bool gemm_tiles_arm64(const gemm_block *g, int64_t rows, int64_t tiles, int32_t vectors, bool fetch) {
  typedef void (*function)(const gemm_block *, int64_t);
  static const function functions[] = {gemm_half_arm64_3, gemm_half_arm64_4, gemm_half_arm64_5,
                                       gemm_half_arm64_6, gemm_half_arm64_7, gemm_half_arm64_8};
  (void)fetch; /* processors with float16 prefetch b in hardware */
  if (rows < 3 || g->pieces < 1 || vectors != GEMM_VECTORS) return false;
  functions[rows - 3](g, tiles);
  return true;
}

#endif
