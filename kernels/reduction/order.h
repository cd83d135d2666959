/* Compares elements along an axis: float32, int32, int64, uint8, int8, int16, float64. */
#ifndef MSLITE_ORDER_H
#define MSLITE_ORDER_H

#include "kernel.h"

/* x as [outer, size, inner], where `size` is the axis. */
typedef struct {
  int64_t outer;
  int64_t size;
  int64_t inner;
} mslite_axis_view;

static inline mslite_axis_view mslite_view_axis(const mslite_tensor *x, int32_t axis) {
  mslite_axis_view view = {1, x->dims[axis], 1};
  for (int32_t i = 0; i < axis; ++i) view.outer *= x->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) view.inner *= x->dims[i];
  return view;
}

static inline bool mslite_is_ordered(int32_t type) {
  switch (type) {
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
    case MSLITE_INT32:
    case MSLITE_INT64:
    case MSLITE_INT8:
    case MSLITE_UINT8:
    case MSLITE_INT16:
      return true;
    default:
      return false;
  }
}

/* Returns whether element `a` is ordered strictly before element `b`: larger first, or smaller first; NaN first or
 * last. */
static inline bool mslite_comes_before(int32_t type, const void *x, int64_t a, int64_t b, bool largest,
                                       bool nan_first) {
#define ORDER(type)                                                             \
  {                                                                             \
    const type p = ((const type *)x)[a], q = ((const type *)x)[b];              \
    if (p != p || q != q) return (p != p) != (q != q) && (p != p) == nan_first; \
    return largest ? p > q : p < q;                                             \
  }
  switch (type) {
    case MSLITE_FLOAT32:
      ORDER(float)
    case MSLITE_FLOAT64:
      ORDER(double)
    case MSLITE_INT32:
      ORDER(int32_t)
    case MSLITE_INT64:
      ORDER(int64_t)
    case MSLITE_INT16:
      ORDER(int16_t)
    case MSLITE_INT8:
      ORDER(int8_t)
    default:
      ORDER(uint8_t)
  }
#undef ORDER
}

#endif
