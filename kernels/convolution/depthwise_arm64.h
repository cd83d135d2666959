/* Tiles of depthwise convolution in assembly for 64-bit ARM: four pixels of two vectors of channels, with the same
 * sums in the same order as the compiled C (convolution/depthwise_vector.c), which generated C and other processors
 * use. One instruction loads a column and advances to the next; compilers need two or three.
 * v0 to v7 are the sums, v8 to v29 the columns of one ky, v30 and v31 a tap, later the limits. x9 and x10 are the
 * addresses in x, x11 is that in w, x12 counts ky. */
#ifndef MSLITE_CONVOLUTION_DEPTHWISE_ARM64_H
#define MSLITE_CONVOLUTION_DEPTHWISE_ARM64_H

#include "simd/simd.h"

/* clang-format off */
#define DEPTHWISE_COLUMN_0 8, 9
#define DEPTHWISE_COLUMN_1 10, 11
#define DEPTHWISE_COLUMN_2 12, 13
#define DEPTHWISE_COLUMN_3 14, 15
#define DEPTHWISE_COLUMN_4 16, 17
#define DEPTHWISE_COLUMN_5 18, 19
#define DEPTHWISE_COLUMN_6 20, 21
#define DEPTHWISE_COLUMN_7 22, 23
#define DEPTHWISE_COLUMN_8 24, 25
#define DEPTHWISE_COLUMN_9 26, 27
#define DEPTHWISE_COLUMN_10 28, 29

#define DEPTHWISE_LOAD(column) DEPTHWISE_LOAD_PAIR(DEPTHWISE_COLUMN_##column)
#define DEPTHWISE_LOAD_PAIR(...) DEPTHWISE_LOAD_TWO(__VA_ARGS__)
#define DEPTHWISE_LOAD_TWO(low, high) "ld1 {v" #low ".4s, v" #high ".4s}, [x10], %[x_step]\n"

/* One tap of the four pixels, for these columns. */
#define DEPTHWISE_TAP(a, b, c, d)                                                   \
  "ld1 {v30.4s, v31.4s}, [x11], %[w_step]\n"                                        \
  DEPTHWISE_ADD(0, 1, DEPTHWISE_COLUMN_##a) DEPTHWISE_ADD(2, 3, DEPTHWISE_COLUMN_##b) \
  DEPTHWISE_ADD(4, 5, DEPTHWISE_COLUMN_##c) DEPTHWISE_ADD(6, 7, DEPTHWISE_COLUMN_##d)
#define DEPTHWISE_ADD(...) DEPTHWISE_ADD_TWO(__VA_ARGS__)
#define DEPTHWISE_ADD_TWO(s, t, low, high)                \
  "fmla v" #s ".4s, v30.4s, v" #low ".4s\n"               \
  "fmla v" #t ".4s, v31.4s, v" #high ".4s\n"

#define DEPTHWISE_LOAD_6 DEPTHWISE_LOAD(0) DEPTHWISE_LOAD(1) DEPTHWISE_LOAD(2) DEPTHWISE_LOAD(3) DEPTHWISE_LOAD(4) DEPTHWISE_LOAD(5)
#define DEPTHWISE_LOAD_8 DEPTHWISE_LOAD_6 DEPTHWISE_LOAD(6) DEPTHWISE_LOAD(7)
#define DEPTHWISE_LOAD_9 DEPTHWISE_LOAD_8 DEPTHWISE_LOAD(8)
#define DEPTHWISE_LOAD_11 DEPTHWISE_LOAD_9 DEPTHWISE_LOAD(9) DEPTHWISE_LOAD(10)

/* One ky, by kernel size and stride. */
#define DEPTHWISE_ROW_3_1 DEPTHWISE_LOAD_6 DEPTHWISE_TAP(0, 1, 2, 3) DEPTHWISE_TAP(1, 2, 3, 4) DEPTHWISE_TAP(2, 3, 4, 5)
#define DEPTHWISE_ROW_3_2 DEPTHWISE_LOAD_9 DEPTHWISE_TAP(0, 2, 4, 6) DEPTHWISE_TAP(1, 3, 5, 7) DEPTHWISE_TAP(2, 4, 6, 8)
#define DEPTHWISE_ROW_5_1 \
  DEPTHWISE_LOAD_8 DEPTHWISE_TAP(0, 1, 2, 3) DEPTHWISE_TAP(1, 2, 3, 4) DEPTHWISE_TAP(2, 3, 4, 5) DEPTHWISE_TAP(3, 4, 5, 6) DEPTHWISE_TAP(4, 5, 6, 7)
#define DEPTHWISE_ROW_5_2 \
  DEPTHWISE_LOAD_11 DEPTHWISE_TAP(0, 2, 4, 6) DEPTHWISE_TAP(1, 3, 5, 7) DEPTHWISE_TAP(2, 4, 6, 8) DEPTHWISE_TAP(3, 5, 7, 9) DEPTHWISE_TAP(4, 6, 8, 10)

#define DEPTHWISE_CLAMP(operation, limit) \
  ".irp sum, 0, 1, 2, 3, 4, 5, 6, 7\n" operation " v\\sum\\().4s, v\\sum\\().4s, " limit ".4s\n.endr\n"

/* depthwise_arm64_<kernel>_<stride>(): computes four pixels for all channels except for the last ones that do not
 * fill a pair of vectors. Returns the number of channels. */
#define DEPTHWISE_ARM64(kernel, stride)                                                                          \
  static __attribute__((noinline)) int64_t depthwise_arm64_##kernel##_##stride(const depthwise_tile *t) {        \
    static const float zeros[2 * SIMD_WIDTH];                                                                    \
    enum { PAIR = (int)sizeof zeros };                                                                           \
    const float *x = t->x, *w = t->w, *start = t->bias == NULL ? zeros : t->bias;                                \
    float *y = t->y;                                                                                             \
    const int64_t size = (int64_t)sizeof(float);                                                                 \
    int64_t pairs = t->channels / (2 * SIMD_WIDTH);                                                              \
    if (pairs == 0 || t->rows < 1) return 0;                                                                     \
    __asm__ volatile(                                                                                            \
        "1:\n" /* two vectors of channels */                                                                     \
        "ld1 {v0.4s, v1.4s}, [%[start]], %[start_step]\n"                                                        \
        "mov v2.16b, v0.16b\n"                                                                                   \
        "mov v3.16b, v1.16b\n"                                                                                   \
        "mov v4.16b, v0.16b\n"                                                                                   \
        "mov v5.16b, v1.16b\n"                                                                                   \
        "mov v6.16b, v0.16b\n"                                                                                   \
        "mov v7.16b, v1.16b\n"                                                                                   \
        "mov x9, %[x]\n"                                                                                         \
        "mov x11, %[w]\n"                                                                                        \
        "mov x12, %[rows]\n"                                                                                     \
        "2:\n" /* one ky */                                                                                      \
        "mov x10, x9\n"                                                                                          \
        DEPTHWISE_ROW_##kernel##_##stride                                                                        \
        "add x9, x9, %[x_row]\n"                                                                                 \
        "subs x12, x12, #1\n"                                                                                    \
        "b.ne 2b\n"                                                                                              \
        "cbz %w[clamped], 3f\n"                                                                                  \
        "ld1r {v30.4s}, [%[low]]\n"                                                                              \
        "ld1r {v31.4s}, [%[high]]\n"                                                                             \
        DEPTHWISE_CLAMP("fmax", "v30")                                                                           \
        DEPTHWISE_CLAMP("fmin", "v31")                                                                           \
        "3:\n"                                                                                                   \
        "mov x10, %[y]\n"                                                                                        \
        "st1 {v0.4s, v1.4s}, [x10], %[y_step]\n"                                                                 \
        "st1 {v2.4s, v3.4s}, [x10], %[y_step]\n"                                                                 \
        "st1 {v4.4s, v5.4s}, [x10], %[y_step]\n"                                                                 \
        "st1 {v6.4s, v7.4s}, [x10], %[y_step]\n"                                                                 \
        "add %[x], %[x], %[pair]\n"                                                                              \
        "add %[w], %[w], %[pair]\n"                                                                              \
        "add %[y], %[y], %[pair]\n"                                                                              \
        "subs %[pairs], %[pairs], #1\n"                                                                          \
        "b.ne 1b\n"                                                                                              \
        : [x] "+r"(x), [w] "+r"(w), [y] "+r"(y), [start] "+r"(start), [pairs] "+r"(pairs)                        \
        : [start_step] "r"(t->bias == NULL ? (int64_t)0 : (int64_t)PAIR), [pair] "i"(PAIR), [rows] "r"(t->rows), \
          [x_step] "r"(t->x_step * size), [x_row] "r"(t->x_row * size), [w_step] "r"(t->w_step * size),          \
          [y_step] "r"(t->y_step * size), [low] "r"(&t->low), [high] "r"(&t->high),                              \
          [clamped] "r"(t->low > -INFINITY || t->high < INFINITY)                                                \
        : "cc", "memory", "x9", "x10", "x11", "x12", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", \
          "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",      \
          "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");                                               \
    return t->channels / (2 * SIMD_WIDTH) * (2 * SIMD_WIDTH);                                                    \
  }
/* clang-format on */

DEPTHWISE_ARM64(3, 1)
DEPTHWISE_ARM64(3, 2)
DEPTHWISE_ARM64(5, 1)
DEPTHWISE_ARM64(5, 2)

/* Returns the number of channels that are done. Kernel size and stride are constants when this is inlined. */
SIMD_INLINE int64_t depthwise_arm64(const depthwise_tile *t, const int32_t kernel, const int32_t stride) {
  if (kernel == 3) return stride == 1 ? depthwise_arm64_3_1(t) : depthwise_arm64_3_2(t);
  return stride == 1 ? depthwise_arm64_5_1(t) : depthwise_arm64_5_2(t);
}

#endif
