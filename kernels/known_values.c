/* Inference of sizes and of the contents of small integer tensors. */
#include "known_values.h"

#include <stdarg.h>
#include <stdio.h>

mslite_status mslite_shape_fail(mslite_shape_context *context, mslite_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->message, sizeof context->message, format, arguments);
  va_end(arguments);
  return status;
}

int64_t mslite_new_symbol(mslite_shape_context *context) { return context->next_symbol--; }

bool mslite_known_value(const mslite_tensor *tensor, int64_t index, int64_t *value) {
  if (index < 0) return false;
  if (index < tensor->known_count) {
    *value = tensor->known[index];
    return true;
  }
  if (tensor->data == NULL || index >= mslite_element_count(tensor)) return false;
  switch (tensor->type) {
    case MSLITE_INT32:
    case MSLITE_INT:
      *value = ((const int32_t *)tensor->data)[index];
      return true;
    case MSLITE_INT64:
      *value = ((const int64_t *)tensor->data)[index];
      return true;
    default:
      return false;
  }
}

void mslite_known_copy(const mslite_tensor *input, mslite_tensor *output) {
  output->known_count = input->known_count;
  for (int32_t i = 0; i < input->known_count; ++i) output->known[i] = input->known[i];
}

void mslite_known_strided(const mslite_tensor *input, int64_t base, int32_t rank, const int64_t *sizes,
                          const int64_t *strides, mslite_tensor *output) {
  if (input->known_count < 0) return;
  int64_t count = 1;
  for (int32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0 || sizes[i] > MSLITE_MAX_KNOWN) return;
    count *= sizes[i];
    if (count > MSLITE_MAX_KNOWN) return;
  }
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at;
    int64_t source = base;
    for (int32_t i = rank - 1; i >= 0; --i) {
      source += rest % sizes[i] * strides[i];
      rest /= sizes[i];
    }
    if (source < 0 || source >= input->known_count) return;
    output->known[at] = input->known[source];
  }
  output->known_count = (int32_t)count;
}

int64_t mslite_entry_count(const mslite_tensor *tensor) {
  return tensor->known_count >= 0 ? tensor->known_count : mslite_element_count(tensor);
}

mslite_status mslite_limit_entries(mslite_shape_context *context, const mslite_tensor *tensor, int32_t limit) {
  const int64_t count = mslite_entry_count(tensor);
  if (count <= limit) return MSLITE_OK;
  return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "%lld entries for tensors of at most %d dimensions",
                           (long long)count, (int)MSLITE_MAX_RANK);
}

bool mslite_read_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count) {
  const int64_t length = mslite_entry_count(tensor);
  if (length < 0 || length > limit) return false;
  for (int64_t i = 0; i < length; ++i) {
    if (!mslite_known_value(tensor, i, &entries[i])) return false;
  }
  *count = (int32_t)length;
  return true;
}

bool mslite_read_known_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count) {
  if (!mslite_read_entries(tensor, entries, limit, count)) return false;
  for (int32_t i = 0; i < *count; ++i) {
    if (mslite_is_symbol(entries[i])) return false;
  }
  return true;
}

void mslite_unknown_dims(mslite_shape_context *context, int32_t rank, mslite_tensor *output) {
  output->rank = rank > MSLITE_MAX_RANK ? -1 : rank;
  for (int32_t i = 0; i < output->rank; ++i) output->dims[i] = mslite_new_symbol(context);
}

bool mslite_merge_size(int64_t a, int64_t b, int64_t *merged) {
  *merged = mslite_is_symbol(a) ? b : a;
  return mslite_is_symbol(a) || mslite_is_symbol(b) || a == b;
}

bool mslite_size_divide(mslite_shape_context *context, int64_t a, int64_t b, int64_t *quotient) {
  if (b == 1) {
    *quotient = a;
  } else if (mslite_is_symbol(a) || mslite_is_symbol(b)) {
    *quotient = mslite_new_symbol(context);
  } else {
    if (b == 0 || a % b != 0) return false;
    *quotient = a / b;
  }
  return true;
}
