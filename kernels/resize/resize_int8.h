/* The weights of Resize on quantized integers: 10 fractional bits per resized dimension, or float32. */
#ifndef MSLITE_RESIZE_INT8_H
#define MSLITE_RESIZE_INT8_H

#include "math/fixed_point.h"
#include "resize/taps.h"

enum { MSLITE_RESIZE_ONE = 1024, MSLITE_RESIZE_ONE_BITS = 10, MSLITE_RESIZE_SOURCES = 64 };

/* The kinds of weights: none (copies); rounded float weights; TensorFlow Lite's steps of 1/1024, or its float32
 * weights. */
typedef enum {
  MSLITE_RESIZE_COPY,
  MSLITE_RESIZE_TABLE,
  MSLITE_RESIZE_STEPS,
  MSLITE_RESIZE_FLOATS
} mslite_resize_arithmetic;

typedef struct {
  mslite_resize_plan plan;
  int32_t arithmetic; /* mslite_resize_arithmetic */
  int32_t type;
  int32_t rank; /* dimensions up to the last resized one, which are iterated over */
  int32_t shift;
  bool is_wide; /* sums need 64 bits */
  bool is_rescaled;
  int32_t from_zero, to_zero, low, high;
  mslite_multiplier factor;
  int64_t inner, rows, rows_per_part;
  int64_t in[MSLITE_MAX_RANK], out[MSLITE_MAX_RANK], stride[MSLITE_MAX_RANK];
  int32_t taps[MSLITE_MAX_RANK];  /* 0: this dimension is not resized */
  int64_t table[MSLITE_MAX_RANK]; /* offset of its table in the shared workspace, in 4-byte words */
} mslite_resize_int8;

/* Returns, for an output index, `taps` source indices, followed by as many weights: integers, or the bits of floats. */
static inline int32_t *mslite_resize_indices(const mslite_resize_int8 *numbers, void *shared, int32_t axis,
                                             int64_t at) {
  return (int32_t *)shared + numbers->table[axis] + at * 2 * numbers->taps[axis];
}

/* Fills the tables of all resized dimensions. */
void mslite_fill_resize_tables(const mslite_resize_int8 *numbers, void *shared);

#endif
