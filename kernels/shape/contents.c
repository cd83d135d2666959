/* Contents of small integer tensors that are known before a run. */
#include "shape/shape.h"

int32_t mslite_canonical_type(int32_t type) {
  switch (type) {
    case MSLITE_INT:
      return MSLITE_INT32;
    case MSLITE_UINT:
      return MSLITE_UINT32;
    case MSLITE_FLOAT:
      return MSLITE_FLOAT32;
    default:
      return type;
  }
}

int64_t mslite_known_total(const mslite_tensor *tensor) {
  const int64_t count = mslite_element_count(tensor);
  if (count < 0 || count > MSLITE_MAX_KNOWN) return -1;
  int64_t ignored;
  return count == 0 || mslite_known_value(tensor, count - 1, &ignored) ? count : -1;
}

bool mslite_begin_known(mslite_tensor *output) {
  switch (mslite_canonical_type(output->type)) {
    case MSLITE_BOOL:
    case MSLITE_INT8:
    case MSLITE_UINT8:
    case MSLITE_INT16:
    case MSLITE_INT32:
    case MSLITE_INT64:
      break;
    default:
      return false;
  }
  const int64_t count = mslite_element_count(output);
  if (count < 0 || count > MSLITE_MAX_KNOWN) return false;
  output->known_count = (int32_t)count;
  return true;
}

int64_t mslite_known_or_new(mslite_shape_context *context, int32_t type, int64_t value) {
  const int32_t bits = mslite_type_size(type) * 8;
  if (bits >= 64 || mslite_is_symbol(value)) return value;
  const bool is_unsigned = type == MSLITE_UINT8 || type == MSLITE_BOOL;
  const int64_t low = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
  const int64_t high = ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
  return value < low || value > high ? mslite_new_symbol(context) : value;
}

mslite_status mslite_shape_from_contents(mslite_shape_context *context, const mslite_tensor *sizes,
                                         mslite_tensor *output) {
  output->rank = -1;
  if (sizes->rank < 0) return MSLITE_OK;
  const int64_t rank = mslite_element_count(sizes);
  if (rank < 0) return MSLITE_OK;
  if (rank > MSLITE_MAX_RANK)
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "a shape of %lld dimensions; at most %d are supported",
                             (long long)rank, MSLITE_MAX_RANK);
  output->rank = (int32_t)rank;
  for (int32_t i = 0; i < output->rank; ++i) {
    int64_t size = 0;
    if (!mslite_known_value(sizes, i, &size)) size = mslite_new_symbol(context);
    if (size < 0 && !mslite_is_symbol(size))
      return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "dimension %d of the target shape is %lld", (int)i,
                               (long long)size);
    output->dims[i] = size;
  }
  return MSLITE_OK;
}
