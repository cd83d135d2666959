/* Coordinates of sparse tensors: int32 or int64. */
#ifndef MSLITE_SPARSE_H
#define MSLITE_SPARSE_H

#include "kernel.h"

static inline bool mslite_is_index_type(int32_t type) { return type == MSLITE_INT32 || type == MSLITE_INT64; }

static inline int64_t mslite_index_at(const void *data, int32_t type, int64_t at) {
  return type == MSLITE_INT64 ? ((const int64_t *)data)[at] : ((const int32_t *)data)[at];
}

static inline void mslite_store_index(void *data, int32_t type, int64_t at, int64_t value) {
  if (type == MSLITE_INT64) {
    ((int64_t *)data)[at] = value;
  } else {
    ((int32_t *)data)[at] = (int32_t)value;
  }
}

#endif
