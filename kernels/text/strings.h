/* Tensors of strings: int32 count n, int32 offsets[n + 1] from the start of the data, then the bytes. In memory such
 * a tensor has one dimension, its size in bytes. The bytes are untrusted: invalid offsets give an empty string. */
#ifndef MSLITE_STRINGS_H
#define MSLITE_STRINGS_H

#include <string.h>

#include "kernel.h"

typedef struct {
  const uint8_t *bytes;
  int64_t size;
  int32_t count;
} mslite_strings;

static inline int32_t mslite_string_number(const mslite_strings *strings, int64_t index) {
  int32_t value;
  memcpy(&value, strings->bytes + index * 4, sizeof value);
  return value;
}

/* Returns the strings of a tensor of `size` bytes; no strings if its table exceeds the size. */
static inline mslite_strings mslite_read_strings(const void *data, int64_t size) {
  mslite_strings strings = {data, size, 0};
  const int64_t most = size / 4 - 2;
  const int32_t count = most < 0 ? 0 : mslite_string_number(&strings, 0);
  if (count > 0 && count <= most) strings.count = count;
  return strings;
}

static inline const uint8_t *mslite_string_at(const mslite_strings *strings, int32_t index, int64_t *length) {
  const int64_t begin = mslite_string_number(strings, (int64_t)index + 1);
  const int64_t end = mslite_string_number(strings, (int64_t)index + 2);
  const int64_t bytes = end - begin;
  *length = bytes > 0 && begin >= 0 && end <= strings->size ? bytes : 0;
  return strings->bytes + (*length > 0 ? begin : 0);
}

/* Returns the offset of the bytes of `count` strings. */
static inline int64_t mslite_string_header(int64_t count) { return 4 * (count + 2); }

static inline void mslite_write_string_number(void *data, int64_t index, int64_t value) {
  const int32_t number = (int32_t)value;
  memcpy((uint8_t *)data + index * 4, &number, sizeof number);
}

/* Returns whether the tensor contains packed strings: as strings, or (in tests) as bytes. */
static inline bool mslite_holds_strings(const mslite_tensor *tensor) {
  return tensor->type == MSLITE_STRING || tensor->type == MSLITE_UINT8;
}

#endif
