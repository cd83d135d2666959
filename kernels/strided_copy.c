/* Strided copies: loop simplification, division into parts, and the inner loops for each element size. */
#include "strided_copy.h"

#include <string.h>

enum { TILE_ROWS = 32, TILE_COLUMNS = 16, FEW_COLUMNS = 4, FEW_COLUMNS_ROWS = 1024 };

void mslite_row_major(const int64_t *dims, int32_t rank, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= dims[i];
  }
}

int32_t mslite_byte_parts(int64_t bytes) {
  return (int32_t)((bytes + MSLITE_COPY_PART_BYTES - 1) / MSLITE_COPY_PART_BYTES);
}

int64_t mslite_integer_at(const void *data, int32_t type, int64_t index) {
  switch (type) {
    case MSLITE_INT64:
    case MSLITE_UINT64:
      return ((const int64_t *)data)[index];
    case MSLITE_INT16:
      return ((const int16_t *)data)[index];
    case MSLITE_INT8:
      return ((const int8_t *)data)[index];
    case MSLITE_UINT8:
    case MSLITE_BOOL:
      return ((const uint8_t *)data)[index];
    default:
      return ((const int32_t *)data)[index];
  }
}

void mslite_copy_begin(mslite_copy *copy, int32_t element_size) {
  memset(copy, 0, sizeof *copy);
  copy->element_size = element_size;
}

void mslite_copy_dimension(mslite_copy *copy, int64_t size, int64_t from, int64_t to) {
  copy->sizes[copy->rank] = size;
  copy->from[copy->rank] = from;
  copy->to[copy->rank] = to;
  ++copy->rank;
}

/* Removes dimensions of size 1 and merges adjacent dimensions that are contiguous. */
static void collapse(mslite_copy *copy) {
  int32_t rank = 0;
  for (int32_t i = 0; i < copy->rank; ++i) {
    const int64_t size = copy->sizes[i];
    const int64_t from = copy->from[i];
    const int64_t to = copy->to[i];
    if (size == 1) continue;
    if (rank > 0 && copy->from[rank - 1] == from * size && copy->to[rank - 1] == to * size) {
      copy->sizes[rank - 1] *= size;
      copy->from[rank - 1] = from;
      copy->to[rank - 1] = to;
      continue;
    }
    copy->sizes[rank] = size;
    copy->from[rank] = from;
    copy->to[rank] = to;
    ++rank;
  }
  copy->rank = rank;
  if (rank == 0) mslite_copy_dimension(copy, 1, 1, 1);
}

/* Moves the dimension that is contiguous in the source next to the one that is contiguous in the destination. */
static void find_tile(mslite_copy *copy) {
  const int32_t last = copy->rank - 1;
  if (copy->to[last] != 1 || copy->from[last] == 1 || copy->from[last] == 0) return;
  for (int32_t i = 0; i < last; ++i) {
    if (copy->from[i] != 1) continue;
    const int64_t size = copy->sizes[i];
    const int64_t to = copy->to[i];
    for (int32_t j = i; j < last - 1; ++j) {
      copy->sizes[j] = copy->sizes[j + 1];
      copy->from[j] = copy->from[j + 1];
      copy->to[j] = copy->to[j + 1];
    }
    copy->sizes[last - 1] = size;
    copy->from[last - 1] = 1;
    copy->to[last - 1] = to;
    copy->tiled = 1;
    return;
  }
}

int32_t mslite_copy_finish(mslite_copy *copy) {
  if (copy->element_size == 16) {
    for (int32_t i = 0; i < copy->rank; ++i) {
      copy->from[i] *= 2;
      copy->to[i] *= 2;
    }
    copy->from_base *= 2;
    copy->to_base *= 2;
    mslite_copy_dimension(copy, 2, 1, 1);
  }
  int64_t count = 1;
  for (int32_t i = 0; i < copy->rank; ++i) count *= copy->sizes[i];
  copy->units = 0;
  copy->units_per_part = 1;
  if (count == 0) return 0;
  collapse(copy);
  find_tile(copy);
  const int32_t last = copy->rank - 1;
  const int32_t size = copy->element_size == 16 ? 8 : copy->element_size;
  int64_t unit_elements;
  int64_t outer = 1;
  if (copy->tiled) {
    const int64_t rows = copy->sizes[last] <= FEW_COLUMNS ? FEW_COLUMNS_ROWS : TILE_ROWS;
    copy->block = copy->sizes[last - 1] < rows ? copy->sizes[last - 1] : rows;
    copy->blocks = (copy->sizes[last - 1] + copy->block - 1) / copy->block;
    unit_elements = copy->block * copy->sizes[last];
    for (int32_t i = 0; i < last - 1; ++i) outer *= copy->sizes[i];
  } else {
    copy->block = MSLITE_COPY_PART_BYTES / size;
    copy->blocks = (copy->sizes[last] + copy->block - 1) / copy->block;
    unit_elements = copy->sizes[last] < copy->block ? copy->sizes[last] : copy->block;
    for (int32_t i = 0; i < last; ++i) outer *= copy->sizes[i];
  }
  copy->units = outer * copy->blocks;
  const int64_t unit_bytes = unit_elements * size;
  copy->units_per_part = unit_bytes >= MSLITE_COPY_PART_BYTES ? 1 : MSLITE_COPY_PART_BYTES / unit_bytes;
  return (int32_t)((copy->units + copy->units_per_part - 1) / copy->units_per_part);
}

#define INNER_LOOPS(bits)                                                                                        \
  typedef uint##bits##_t __attribute__((may_alias)) word##bits;                                                  \
  static void row_##bits(const word##bits *from, int64_t from_stride, word##bits *to, int64_t to_stride,         \
                         int64_t count) {                                                                        \
    if (from_stride == 0 && to_stride == 1) {                                                                    \
      const word##bits value = *from;                                                                            \
      for (int64_t i = 0; i < count; ++i) to[i] = value;                                                         \
      return;                                                                                                    \
    }                                                                                                            \
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];                               \
  }                                                                                                              \
  /* A few rows woven into one: `columns` is a constant where this is inlined. */                                \
  static inline void weave_##bits(const word##bits *restrict from, int64_t from_stride, word##bits *restrict to, \
                                  int64_t rows, const int64_t columns) {                                         \
    for (int64_t row = 0; row < rows; ++row) {                                                                   \
      for (int64_t i = 0; i < columns; ++i) to[row * columns + i] = from[i * from_stride + row];                 \
    }                                                                                                            \
  }                                                                                                              \
  static void tile_##bits(const word##bits *from, int64_t from_stride, word##bits *to, int64_t to_stride,        \
                          int64_t rows, int64_t columns) {                                                       \
    if (to_stride == columns && columns >= 2 && columns <= FEW_COLUMNS) {                                        \
      if (columns == 2) weave_##bits(from, from_stride, to, rows, 2);                                            \
      if (columns == 3) weave_##bits(from, from_stride, to, rows, 3);                                            \
      if (columns == 4) weave_##bits(from, from_stride, to, rows, 4);                                            \
      return;                                                                                                    \
    }                                                                                                            \
    for (int64_t start = 0; start < columns; start += TILE_COLUMNS) {                                            \
      const int64_t stop = columns - start < TILE_COLUMNS ? columns : start + TILE_COLUMNS;                      \
      for (int64_t row = 0; row < rows; ++row) {                                                                 \
        for (int64_t i = start; i < stop; ++i) to[row * to_stride + i] = from[i * from_stride + row];            \
      }                                                                                                          \
    }                                                                                                            \
  }

INNER_LOOPS(8)
INNER_LOOPS(16)
INNER_LOOPS(32)
INNER_LOOPS(64)

static void copy_row(int32_t size, const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t count) {
  if (from_stride == 1 && to_stride == 1) {
    memcpy(to, from, (size_t)(count * size));
    return;
  }
  switch (size) {
    case 1:
      row_8(from, from_stride, to, to_stride, count);
      break;
    case 2:
      row_16(from, from_stride, to, to_stride, count);
      break;
    case 4:
      row_32(from, from_stride, to, to_stride, count);
      break;
    default:
      row_64(from, from_stride, to, to_stride, count);
  }
}

static void copy_tile(int32_t size, const void *from, int64_t from_stride, void *to, int64_t to_stride, int64_t rows,
                      int64_t columns) {
  switch (size) {
    case 1:
      tile_8(from, from_stride, to, to_stride, rows, columns);
      break;
    case 2:
      tile_16(from, from_stride, to, to_stride, rows, columns);
      break;
    case 4:
      tile_32(from, from_stride, to, to_stride, rows, columns);
      break;
    default:
      tile_64(from, from_stride, to, to_stride, rows, columns);
  }
}

void mslite_copy_part(const mslite_copy *copy, const void *from, int64_t from_offset, void *to, int32_t part) {
  const int32_t size = copy->element_size == 16 ? 8 : copy->element_size;
  const int32_t last = copy->rank - 1;
  const int32_t outer_rank = copy->tiled ? last - 1 : last;
  const int32_t split = outer_rank; /* the dimension that is divided into blocks */
  int64_t unit = part * copy->units_per_part;
  const int64_t end = copy->units - unit < copy->units_per_part ? copy->units : unit + copy->units_per_part;
  int64_t index[MSLITE_COPY_RANK];
  int64_t block = unit % copy->blocks;
  int64_t rest = unit / copy->blocks;
  int64_t from_at = copy->from_base + (copy->element_size == 16 ? 2 * from_offset : from_offset);
  int64_t to_at = copy->to_base;
  for (int32_t i = outer_rank - 1; i >= 0; --i) {
    index[i] = rest % copy->sizes[i];
    rest /= copy->sizes[i];
    from_at += index[i] * copy->from[i];
    to_at += index[i] * copy->to[i];
  }
  for (; unit < end; ++unit) {
    const int64_t start = block * copy->block;
    const int64_t left = copy->sizes[split] - start;
    const int64_t count = left < copy->block ? left : copy->block;
    const char *source = (const char *)from + (from_at + start * copy->from[split]) * size;
    char *target = (char *)to + (to_at + start * copy->to[split]) * size;
    if (copy->tiled) {
      copy_tile(size, source, copy->from[last], target, copy->to[split], count, copy->sizes[last]);
    } else {
      copy_row(size, source, copy->from[last], target, copy->to[last], count);
    }
    if (++block < copy->blocks) continue;
    block = 0;
    for (int32_t i = outer_rank - 1; i >= 0; --i) {
      from_at += copy->from[i];
      to_at += copy->to[i];
      if (++index[i] < copy->sizes[i]) break;
      from_at -= index[i] * copy->from[i];
      to_at -= index[i] * copy->to[i];
      index[i] = 0;
    }
  }
}
