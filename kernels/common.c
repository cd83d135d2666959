/* Helper functions that shape rules and kernels share. */
#include "kernel.h"

int32_t mslite_type_size(int32_t type) {
  switch (type) {
    case MSLITE_BOOL:
    case MSLITE_INT8:
    case MSLITE_UINT8:
      return 1;
    case MSLITE_INT16:
    case MSLITE_UINT16:
    case MSLITE_FLOAT16:
    case MSLITE_BFLOAT16:
      return 2;
    case MSLITE_INT:
    case MSLITE_INT32:
    case MSLITE_UINT:
    case MSLITE_UINT32:
    case MSLITE_FLOAT:
    case MSLITE_FLOAT32:
      return 4;
    case MSLITE_INT64:
    case MSLITE_UINT64:
    case MSLITE_FLOAT64:
    case MSLITE_COMPLEX64:
      return 8;
    case MSLITE_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

int64_t mslite_element_count(const mslite_tensor *tensor) {
  if (tensor->rank < 0) return -1;
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    const int64_t dim = tensor->dims[i];
    if (dim < 0) return -1;
    if (dim != 0 && count > INT64_MAX / dim) return -1;
    count *= dim;
  }
  return count;
}

int32_t mslite_normalize_axis(int64_t axis, int32_t rank) {
  if (axis < -(int64_t)rank || axis >= rank) return -1;
  return (int32_t)(axis < 0 ? axis + rank : axis);
}

void mslite_report_value(const mslite_run *run, int32_t input, int64_t position, int64_t value, int64_t low,
                         int64_t high) {
  mslite_failure *failure = run->failure;
  if (failure == NULL || failure->status != MSLITE_OK) return;
  failure->status = MSLITE_ERROR_VALUE;
  failure->input = input;
  failure->position = position;
  failure->value = value;
  failure->low = low;
  failure->high = high;
}
