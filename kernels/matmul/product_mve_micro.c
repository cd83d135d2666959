/* Products for microcontrollers with Helium.
 *
 * Packed weights, of each four channels (missing ones of the last four are zeros):
 *   int32_t bias[4]
 *   int8_t w[terms / 16][4][16]
 *   int8_t w[4][terms % 16]
 * and then, once where all channels have the same factor, else for each four channels:
 *   int32_t multiplier[4]
 *   int8_t shift[4]
 *
 * Limit: a product of 16 terms is one instruction, and two rows by four channels share 6 loads among 8 of them: 14
 * instructions for 128 multiply-adds. More accumulators do not exist: VMLADAVA has the even registers alone. */
#include "matmul/product_micro.h"

#if MICRO_MVE
#include "simd/micro_mve.h"

/* Two rows of x and how they are cut. micro_sum_pair knows the order. */
typedef struct {
  int32_t chunks; /* of 16 terms */
  const int8_t *x0, *x1;
  int32_t over;                /* terms behind the chunks, */
  int8_t tail0[16], tail1[16]; /* and these, filled up with zeros */
} micro_row_pair;

MICRO_INLINE void micro_cut_pair(micro_row_pair *rows, const micro_product *p) {
  const int32_t terms = p->layer->terms, whole = terms & ~15;
#if !defined(__ARM_FEATURE_MVE)
  memset(rows, 0, sizeof *rows); /* gcc does not see that without such terms nobody reads the tails */
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

/* 16 terms of two rows, which wait where the sums will be, by four channels. */
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

/* The rest of the terms of one channel, whose sums are these. */
#define MICRO_PAIR_TAIL(sum0, sum1) \
  "vldrb.8 q2, [%[w]]\n\t"          \
  "add %[w], r5\n\t"                \
  "vmladava.s8 " sum0               \
  ", %q[sums0], q2\n\t"             \
  "vmladava.s8 " sum1 ", %q[sums1], q2\n\t"

/* Sums of two rows and the four channels at `w`; returns what lies behind their weights. In assembly, as compilers keep
 * no eight accumulators in the eight even registers: r0, r2, r4 and r6 are those of row 0, r8, r10, r12 and lr those of
 * row 1. r1, r3 and r7 are left to the compiler. */
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

/* The steps of four sums. */
MICRO_INLINE micro_i32x4 micro_steps(const micro_layer *layer, micro_i32x4 sums, micro_i32x4 multiplier,
                                     micro_i32x4 shift) {
  if (layer->rounding == MICRO_ROUNDS_ONCE) return micro_steps_once(sums, multiplier, shift);
  return micro_steps_other(sums, multiplier, shift, layer->rounding, layer->nudge);
}

/* What limits stored results. */
typedef struct {
  micro_i32x4 zero, low, high;
} micro_limits;

MICRO_INLINE micro_limits micro_limits_of(const micro_layer *layer) {
  const micro_limits own = {micro_set_i32x4(layer->nudge >> 1), micro_set_i32x4(layer->low),
                            micro_set_i32x4(layer->high)};
  return own;
}

/* Stored results, in the low bytes of the lanes. */
MICRO_INLINE micro_i32x4 micro_finish(const micro_limits *own, micro_i32x4 steps) {
  return micro_min_i32x4(micro_max_i32x4(micro_add_i32x4(steps, own->zero), own->low), own->high);
}

/* The factors of the first four channels, and how far it is to the next four's. */
MICRO_INLINE const int8_t *micro_factors_at(const micro_product *p) {
  const micro_layer *layer = p->layer;
  return (const int8_t *)p->packed + ((uint32_t)layer->channels + 3) / 4 * (16 + 4 * (uint32_t)layer->terms);
}
MICRO_INLINE int32_t micro_factors_step(const micro_product *p) { return p->layer->has_one ? 0 : 20; }

void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const bool is_usual = layer->rounding == MICRO_ROUNDS_TWICE;
  const micro_limits limits = micro_limits_of(layer);
  const int8_t *w = (const int8_t *)p->packed, *factors = micro_factors_at(p);
  const int32_t step = micro_factors_step(p);
  const int8_t *const end = y0 + layer->channels;
  micro_row_pair rows;
  micro_cut_pair(&rows, p);
  for (;;) {
    micro_i32x4 sums0, sums1;
    w = micro_sum_pair(&rows, w, &sums0, &sums1);
    const micro_i32x4 multiplier = micro_load_i32x4((const int32_t *)(const void *)factors);
    const micro_i32x4 shift = micro_load_bytes(factors + 16);
    factors += step;
    if (is_usual) {
      sums0 = micro_steps_twice(sums0, multiplier, shift);
      sums1 = micro_steps_twice(sums1, multiplier, shift);
    } else {
      sums0 = micro_steps(layer, sums0, multiplier, shift);
      sums1 = micro_steps(layer, sums1, multiplier, shift);
    }
    sums0 = micro_finish(&limits, sums0);
    sums1 = micro_finish(&limits, sums1);
    if (end - y0 <= 4) {
      micro_store_first_bytes(y0, sums0, (int32_t)(end - y0));
      micro_store_first_bytes(y1, sums1, (int32_t)(end - y0));
      return;
    }
    micro_store_bytes(y0, sums0);
    micro_store_bytes(y1, sums1);
    y0 += 4;
    y1 += 4;
  }
}

void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t whole = layer->terms >> 4, over = layer->terms & 15;
  const int8_t *const row = p->x[0], *w = (const int8_t *)p->packed, *factors = micro_factors_at(p);
  const micro_i8x16 tail = micro_load_first_i8x16(row + 16 * whole, over);
  const micro_limits limits = micro_limits_of(layer);
  const int32_t step = micro_factors_step(p);
  for (int32_t rest = layer->channels; rest > 0; rest -= 4, factors += step, y += 4) {
    const int32_t *bias = (const int32_t *)(const void *)w;
    int32_t sum0 = bias[0], sum1 = bias[1], sum2 = bias[2], sum3 = bias[3];
    w += 16;
    const int8_t *x = row;
    for (int32_t i = whole; i > 0; --i) {
      const micro_i8x16 v = micro_load_i8x16(x);
      sum1 = micro_add_products(sum1, v, micro_load_i8x16(w + 16));
      sum2 = micro_add_products(sum2, v, micro_load_i8x16(w + 32));
      sum3 = micro_add_products(sum3, v, micro_load_i8x16(w + 48));
      sum0 = micro_add_products(sum0, v, micro_load_i8x16(w));
      x += 16;
      w += 64;
    }
    if (over != 0) {
      /* What is read too much is multiplied by zeros. */
      sum0 = micro_add_products(sum0, tail, micro_load_i8x16(w));
      w += over;
      sum1 = micro_add_products(sum1, tail, micro_load_i8x16(w));
      w += over;
      sum2 = micro_add_products(sum2, tail, micro_load_i8x16(w));
      w += over;
      sum3 = micro_add_products(sum3, tail, micro_load_i8x16(w));
      w += over;
    }
    micro_i32x4 results = micro_make_i32x4(sum0, sum1, sum2, sum3);
    const micro_i32x4 multiplier = micro_load_i32x4((const int32_t *)(const void *)factors);
    const micro_i32x4 shift = micro_load_bytes(factors + 16);
    results = layer->rounding == MICRO_ROUNDS_TWICE ? micro_steps_twice(results, multiplier, shift)
                                                    : micro_steps(layer, results, multiplier, shift);
    results = micro_finish(&limits, results);
    if (rest < 4) {
      micro_store_first_bytes(y, results, rest);
    } else {
      micro_store_bytes(y, results);
    }
  }
}

#endif
