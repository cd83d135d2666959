#include "matmul/integer_rows_micro.h"

#if MICRO_MVE
#include "simd/micro_mve.h"
#endif

bool micro_integer_fits(const mslite_node *node) {
  if (mslite_integer_matmul_support(node) == 0 || node->input_count <= MSLITE_ROW_SCALE) return false;
  const mslite_tensor *a = node->inputs[MSLITE_A], *b = node->inputs[MSLITE_B];
  return a->type == MSLITE_INT8 && b->type == MSLITE_INT8 && b->data != NULL && mslite_integer_b_is_symmetric(node);
}

void micro_integer_pack(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                        void *packed) {
  int32_t *sums = packed;
  int8_t *to = (int8_t *)(sums + channels);
  for (int64_t c = 0; c < channels; ++c) {
    sums[c] = 0;
    for (int64_t k = 0; k < terms; ++k) {
      const int8_t value = w[c * channel_step + k * term_step];
      sums[c] = micro_add(sums[c], value);
      *to++ = value;
    }
  }
}

#if MICRO_INTEGER_STAGES
/* Loads four terms; missing ones are zero. */
MICRO_INLINE uint32_t first_terms(const int8_t *from, int32_t count) {
  uint32_t four = 0;
  for (int32_t i = count; i > 0; --i) four = four << 8 | (uint8_t)from[i - 1];
  return four;
}

/* Stages row `i` of two: its words for each four terms are 2i and 2i + 1. */
MICRO_SHARED void stage(const int8_t *x, int32_t terms, int32_t i, int32_t *to) {
  to += 2 * i;
  for (; terms >= 4; terms -= 4, x += 4, to += 4) {
    const uint32_t four = micro_load(x);
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
  }
  if (terms > 0) {
    const uint32_t four = first_terms(x, terms);
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
  }
}
#endif

/* Computes the sums of one channel; `rows` is 1 or 2, a constant when this is inlined. */
MICRO_INLINE void add_terms(const micro_integer_pair *pair, const int32_t *staged, const int8_t *w, int32_t terms,
                            const int32_t rows, int32_t *sums) {
  int32_t first = 0, second = 0;
#if MICRO_INTEGER_STAGES
  (void)pair;
  const int8_t *const end = w + (terms & ~3);
  const int32_t *x = staged;
  for (; w != end; w += 4, x += 4) {
    const uint32_t four = micro_load(w);
    const int32_t even = micro_even_pair(four), odd = micro_odd_pair(four);
    first = micro_add_pair(even, x[0], first);
    first = micro_add_pair(odd, x[1], first);
    if (rows > 1) {
      second = micro_add_pair(even, x[2], second);
      second = micro_add_pair(odd, x[3], second);
    }
  }
  if ((terms & 3) != 0) {
    const uint32_t four = first_terms(w, terms & 3);
    const int32_t even = micro_even_pair(four), odd = micro_odd_pair(four);
    first = micro_add_pair(odd, x[1], micro_add_pair(even, x[0], first));
    if (rows > 1) second = micro_add_pair(odd, x[3], micro_add_pair(even, x[2], second));
  }
#elif MICRO_MVE
  (void)staged;
  const int8_t *a = pair->x[0], *b = pair->x[rows - 1];
  for (; terms >= 16; terms -= 16, w += 16, a += 16, b += 16) {
    const micro_i8x16 weights = micro_load_i8x16(w);
    first = micro_add_products(first, micro_load_i8x16(a), weights);
    if (rows > 1) second = micro_add_products(second, micro_load_i8x16(b), weights);
  }
  if (terms > 0) {
    const micro_i8x16 weights = micro_load_first_i8x16(w, terms);
    first = micro_add_products(first, micro_load_first_i8x16(a, terms), weights);
    if (rows > 1) second = micro_add_products(second, micro_load_first_i8x16(b, terms), weights);
  }
#else
  (void)staged;
  const int8_t *a = pair->x[0], *b = pair->x[rows - 1];
  for (const int8_t *const end = w + terms; w != end; ++w) {
    const int32_t weight = *w;
    first = micro_add(first, weight * *a++);
    if (rows > 1) second = micro_add(second, weight * *b++);
  }
#endif
  sums[0] = first;
  sums[1] = second;
}

MICRO_INLINE void run_rows(const mslite_run *run, const micro_integer_layer *layer, const micro_integer_pair *pair,
                           const int32_t rows) {
  const int32_t *column_sum = run->inputs[MSLITE_B];
  const float *scales = run->inputs[MSLITE_SCALE], *bias = run->inputs[MSLITE_BIAS];
  const int32_t channels = layer->channels, terms = layer->terms, step = layer->has_scales;
  const int8_t *w = (const int8_t *)(column_sum + channels);
  for (int32_t c = 0; c < channels; ++c, w += terms, scales += step) {
    int32_t sums[2];
    add_terms(pair, run->scratch, w, terms, rows, sums);
    for (int32_t i = 0; i < rows; ++i) {
      const float sum = (float)micro_subtract(sums[i], pair->zero[i] * column_sum[c]);
      const float row = pair->scale[i], scale = *scales;
      pair->y[i][c] = (layer->scales_apart != 0 ? sum * scale * row : sum * (scale * row)) + bias[c];
    }
  }
}

void micro_integer_rows(const mslite_run *run, const micro_integer_layer *layer, const micro_integer_pair *pair,
                        int32_t rows) {
#if MICRO_INTEGER_STAGES
  for (int32_t i = 0; i < rows; ++i) stage(pair->x[i], layer->terms, i, run->scratch);
#endif
  if (rows > 1) {
    run_rows(run, layer, pair, 2);
  } else {
    run_rows(run, layer, pair, 1);
  }
}
