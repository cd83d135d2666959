/* Sums, means, minima and maxima of quantized integers, vectorized over adjacent outputs. */
#include "reduction/reduce_int8.h"
#include "simd/simd.h"

#define EACH_ROW(type, statement)                                                     \
  for (int64_t r = 0; r < plan->runs; ++r) {                                          \
    const type *first = (const type *)x + offset + mslite_reduce_run_offset(plan, r); \
    for (int64_t i = 0; i < plan->length; ++i) {                                      \
      const type *row = first + i * plan->length_stride;                              \
      for (int64_t c = 0; c < lanes; ++c) statement;                                  \
    }                                                                                 \
  }

#define EACH_RUN(type, statement)                                                     \
  for (int64_t r = 0; r < plan->runs; ++r) {                                          \
    const type *first = (const type *)x + offset + mslite_reduce_run_offset(plan, r); \
    const int64_t step = plan->length_stride;                                         \
    if (step == 1) {                                                                  \
      for (int64_t i = 0; i < plan->length; ++i) statement(first[i]);                 \
    } else {                                                                          \
      for (int64_t i = 0; i < plan->length; ++i) statement(first[i * step]);          \
    }                                                                                 \
  }

#define SUM(v) total += (v)
#define LARGEST(v) best = (v) > best ? (v) : best
#define SMALLEST(v) best = (v) < best ? (v) : best

/* Computes `lanes` adjacent outputs: those of one block. */
#define REDUCE(name, type, lowest, highest)                                                                      \
  static void name(const mslite_stored_reduce *numbers, const void *x, int64_t offset, int64_t lanes, void *y) { \
    const mslite_reduce_plan *plan = &numbers->plan;                                                             \
    int32_t values[MSLITE_REDUCE_BLOCK];                                                                         \
    const bool is_max = numbers->mode == MSLITE_REDUCE_MODE_REDUCE_MAX;                                          \
    const bool is_min = numbers->mode == MSLITE_REDUCE_MODE_REDUCE_MIN;                                          \
    for (int64_t c = 0; c < lanes; ++c) values[c] = is_max ? lowest : is_min ? highest : 0;                      \
    if (lanes == 1) {                                                                                            \
      int64_t total = 0;                                                                                         \
      type best = is_max ? lowest : highest;                                                                     \
      if (is_max) {                                                                                              \
        EACH_RUN(type, LARGEST)                                                                                  \
      } else if (is_min) {                                                                                       \
        EACH_RUN(type, SMALLEST)                                                                                 \
      } else {                                                                                                   \
        EACH_RUN(type, SUM)                                                                                      \
      }                                                                                                          \
      values[0] = is_max || is_min ? best : (int32_t)(uint32_t)(uint64_t)total;                                  \
    } else if (is_max) {                                                                                         \
      EACH_ROW(type, values[c] = row[c] > values[c] ? row[c] : values[c])                                        \
    } else if (is_min) {                                                                                         \
      EACH_ROW(type, values[c] = row[c] < values[c] ? row[c] : values[c])                                        \
    } else {                                                                                                     \
      EACH_ROW(type, values[c] = (int32_t)((uint32_t)values[c] + (uint32_t)row[c]))                              \
    }                                                                                                            \
    for (int64_t c = 0; c < lanes; ++c) ((type *)y)[c] = (type)mslite_stored_reduced(numbers, values[c]);        \
    if (plan->reduced == 0 && !is_max && !is_min) {                                                              \
      for (int64_t c = 0; c < lanes; ++c) ((type *)y)[c] = (type)numbers->empty;                                 \
    }                                                                                                            \
  }

REDUCE(reduce_i8, int8_t, INT8_MIN, INT8_MAX)
REDUCE(reduce_i16, int16_t, INT16_MIN, INT16_MAX)

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_stored_reduce *numbers = run->derived;
  const mslite_reduce_plan *plan = &numbers->plan;
  const int64_t begin = part * numbers->per_part;
  const int64_t end = numbers->items - begin < numbers->per_part ? numbers->items : begin + numbers->per_part;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / numbers->blocks, at = item % numbers->blocks * MSLITE_REDUCE_BLOCK;
    const int64_t lanes = plan->inner - at < MSLITE_REDUCE_BLOCK ? plan->inner - at : MSLITE_REDUCE_BLOCK;
    const int64_t offset = mslite_reduce_kept_offset(plan, outer) + at, to = outer * plan->inner + at;
    if (numbers->type == MSLITE_INT8) {
      reduce_i8(numbers, run->inputs[0], offset, lanes, (int8_t *)run->outputs[0] + to);
    } else {
      reduce_i16(numbers, run->inputs[0], offset, lanes, (int16_t *)run->outputs[0] + to);
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_reduce_int8) = {
    .name = MSLITE_ISA_STRING(reduce_int8),
    .op = MSLITE_OP_ReduceFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(mslite_stored_reduce),
    .support = mslite_stored_reduce_support,
    .prepare = mslite_stored_reduce_prepare,
    .run = run_part,
    .quantized = 1,
};
