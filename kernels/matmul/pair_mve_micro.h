/* Sums of two rows by four channels with Helium.
 *
 * Limit: a product of 16 terms is one instruction, and two rows by four channels share 6 loads for 8 products: 14
 * instructions for 128 multiply-accumulates. More accumulators are not possible: VMLADAVA uses only the even
 * registers. */
#ifndef MSLITE_PAIR_MVE_MICRO_H
#define MSLITE_PAIR_MVE_MICRO_H

#include "matmul/product_micro.h"
#include "simd/micro_mve.h"

/* Two rows of x and their division into chunks, in the order that micro_sum_pair expects. */
typedef struct {
  int32_t chunks; /* of 16 terms */
  const int8_t *x0, *x1;
  int32_t over;                /* terms after the chunks, */
  int8_t tail0[16], tail1[16]; /* and their values, padded with zeros */
} micro_row_pair;

MICRO_INLINE void micro_cut_pair(micro_row_pair *rows, const micro_product *p) {
  const int32_t terms = p->layer->terms, whole = terms & ~15;
#if !defined(__ARM_FEATURE_MVE)
  memset(rows, 0, sizeof *rows); /* gcc does not see that the tails are not read if there are no such terms */
#endif
  rows->chunks = terms >> 4;
  rows->x0 = p->x[0];
  rows->x1 = p->x[1];
  rows->over = terms & 15;
  if (rows->over != 0) {
    micro_store_i8x16(rows->tail0, micro_load_first_i8x16(rows->x0 + whole, rows->over));
    micro_store_i8x16(rows->tail1, micro_load_first_i8x16(rows->x1 + whole, rows->over));
  }
}

#if defined(__ARM_FEATURE_MVE)

/* 16 terms of two rows, which are loaded into the registers of the sums, by four channels. */
#define MICRO_PAIR_CHUNK               \
  "vldrb.8 %q[sums0], [r9], #16\n\t"   \
  "vldrb.8 %q[sums1], [r11], #16\n\t"  \
  "vldrb.8 q2, [%[w]], #16\n\t"        \
  "vldrb.8 q3, [%[w]], #16\n\t"        \
  "vmladava.s8 r0, %q[sums0], q2\n\t"  \
  "vmladava.s8 r8, %q[sums1], q2\n\t"  \
  "vldrb.8 q2, [%[w]], #16\n\t"        \
  "vmladava.s8 r2, %q[sums0], q3\n\t"  \
  "vmladava.s8 r10, %q[sums1], q3\n\t" \
  "vldrb.8 q3, [%[w]], #16\n\t"        \
  "vmladava.s8 r4, %q[sums0], q2\n\t"  \
  "vmladava.s8 r12, %q[sums1], q2\n\t" \
  "vmladava.s8 r6, %q[sums0], q3\n\t"  \
  "vmladava.s8 lr, %q[sums1], q3\n\t"

/* The remaining terms of one channel with these sums. */
#define MICRO_PAIR_TAIL(sum0, sum1) \
  "vldrb.8 q2, [%[w]]\n\t"          \
  "add %[w], r5\n\t"                \
  "vmladava.s8 " sum0               \
  ", %q[sums0], q2\n\t"             \
  "vmladava.s8 " sum1 ", %q[sums1], q2\n\t"

/* Computes the sums of two rows and the four channels at `w`. Returns the address after their weights. In assembly,
 * because compilers do not keep eight accumulators in the eight even registers: r0, r2, r4 and r6 are those of row
 * 0, r8, r10, r12 and lr those of row 1. r1, r3 and r7 are left to the compiler. */
MICRO_INLINE const int8_t *micro_sum_pair(const micro_row_pair *rows, const int8_t *w, micro_i32x4 *sums0,
                                          micro_i32x4 *sums1) {
  micro_i32x4 a, b;
  __asm__ volatile(
      "ldrd r0, r2, [%[w]], #8\n\t"
      "ldrd r4, r6, [%[w]], #8\n\t"
      "ldm %[rows], {r5, r9, r11}\n\t"
      "mov r8, r0\n\t"
      "mov r10, r2\n\t"
      "mov r12, r4\n\t"
      "mov lr, r6\n\t"
      /* An odd chunk, then two at a time. */
      "lsrs r5, r5, #1\n\t"
      "bcc 1f\n\t" MICRO_PAIR_CHUNK
      "1:\n\t"
      "beq 3f\n\t"
      "2:\n\t" MICRO_PAIR_CHUNK MICRO_PAIR_CHUNK
      "subs r5, #1\n\t"
      "bne 2b\n\t"
      "3:\n\t"
      "ldr r5, [%[rows], #12]\n\t"
      "cbz r5, 4f\n\t"
      "add r9, %[rows], #16\n\t"
      "vldrb.8 %q[sums0], [r9]\n\t"
      "vldrb.8 %q[sums1], [r9, #16]\n\t" MICRO_PAIR_TAIL("r0", "r8") MICRO_PAIR_TAIL("r2", "r10")
          MICRO_PAIR_TAIL("r4", "r12") MICRO_PAIR_TAIL("r6", "lr")
      "4:\n\t"
      "vmov %q[sums0][2], %q[sums0][0], r0, r4\n\t"
      "vmov %q[sums0][3], %q[sums0][1], r2, r6\n\t"
      "vmov %q[sums1][2], %q[sums1][0], r8, r12\n\t"
      "vmov %q[sums1][3], %q[sums1][1], r10, lr\n\t"
      : [w] "+r"(w), [sums0] "=&w"(a), [sums1] "=&w"(b)
      : [rows] "r"(rows)
      : "r0", "r2", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "q2", "q3", "cc", "memory");
  *sums0 = a;
  *sums1 = b;
  return w;
}
#undef MICRO_PAIR_CHUNK
#undef MICRO_PAIR_TAIL

#else

MICRO_INLINE const int8_t *micro_sum_pair(const micro_row_pair *rows, const int8_t *w, micro_i32x4 *sums0,
                                          micro_i32x4 *sums1) {
  memcpy(sums0, w, sizeof *sums0);
  *sums1 = *sums0;
  w += 16;
  for (int32_t i = 0; i < rows->chunks; ++i) {
    const micro_i8x16 x0 = micro_load_i8x16(rows->x0 + 16 * i), x1 = micro_load_i8x16(rows->x1 + 16 * i);
    for (int32_t c = 0; c < 4; ++c, w += 16) {
      sums0->at[c] = micro_add_products(sums0->at[c], x0, micro_load_i8x16(w));
      sums1->at[c] = micro_add_products(sums1->at[c], x1, micro_load_i8x16(w));
    }
  }
  for (int32_t c = 0; c < 4 && rows->over > 0; ++c, w += rows->over) {
    sums0->at[c] = micro_add_products(sums0->at[c], micro_load_i8x16(rows->tail0), micro_load_i8x16(w));
    sums1->at[c] = micro_add_products(sums1->at[c], micro_load_i8x16(rows->tail1), micro_load_i8x16(w));
  }
  return w;
}

#endif

#endif
