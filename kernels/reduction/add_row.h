/* Adds rows of any numeric type, for segment sums. */
#ifndef MSLITE_ADD_ROW_H
#define MSLITE_ADD_ROW_H

#include "kernel.h"

static inline bool mslite_adds_rows(int32_t type) {
  return type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64 || type == MSLITE_INT32 || type == MSLITE_INT64;
}

#define MSLITE_ADD_ROW(type_)                                                                               \
  for (int64_t j = 0; j < width; ++j) ((type_ *)y)[to * width + j] += ((const type_ *)x)[from * width + j]; \
  break

/* y[to] += x[from], for rows of `width` elements; integers wrap around. */
static inline void mslite_add_row(int32_t type, int64_t width, const void *x, int64_t from, void *y, int64_t to) {
  switch (type) {
    case MSLITE_FLOAT32:
      MSLITE_ADD_ROW(float);
    case MSLITE_FLOAT64:
      MSLITE_ADD_ROW(double);
    case MSLITE_INT32:
      MSLITE_ADD_ROW(uint32_t);
    default:
      MSLITE_ADD_ROW(uint64_t);
  }
}

#undef MSLITE_ADD_ROW

#endif
