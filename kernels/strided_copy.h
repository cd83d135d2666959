/* Copies between two arrays with strides; used by all kernels that only move elements. */
#ifndef MSLITE_STRIDED_COPY_H
#define MSLITE_STRIDED_COPY_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MSLITE_COPY_RANK = 20,
  MSLITE_COPY_PART_BYTES = 65536 /* approximate bytes per part */
};

/* Strides, bases and sizes are in elements. mslite_copy_finish sets the members after the blank line. */
typedef struct {
  int32_t element_size; /* 1, 2, 4, 8 or 16 bytes */
  int32_t rank;
  int64_t sizes[MSLITE_COPY_RANK]; /* outermost first */
  int64_t from[MSLITE_COPY_RANK];
  int64_t to[MSLITE_COPY_RANK];
  int64_t from_base;
  int64_t to_base;

  int32_t tiled;  /* the last two dimensions are swapped between the arrays */
  int64_t block;  /* size of a unit of work in the last (tiled: last but one) dimension */
  int64_t blocks; /* number of these units */
  int64_t units;
  int64_t units_per_part;
} mslite_copy;

/* Begins the description of a copy of elements of `element_size` bytes. */
void mslite_copy_begin(mslite_copy *copy, int32_t element_size);

/* Adds the next inner dimension. A `from` stride of 0 repeats; a negative one runs backwards. */
void mslite_copy_dimension(mslite_copy *copy, int64_t size, int64_t from, int64_t to);

/* Simplifies the loops and returns the number of parts. */
int32_t mslite_copy_finish(mslite_copy *copy);

/* Runs one part. `from_offset` (in elements) is added to `from_base`, for offsets that are known only at run time. */
void mslite_copy_part(const mslite_copy *copy, const void *from, int64_t from_offset, void *to, int32_t part);

/* Computes the row-major strides of `dims`, in elements. */
void mslite_row_major(const int64_t *dims, int32_t rank, int64_t *strides);

/* Returns the number of parts of about MSLITE_COPY_PART_BYTES in `bytes`. */
int32_t mslite_byte_parts(int64_t bytes);

/* Returns element `index` of an int32, int64, uint8, int8, int16 or bool tensor. */
int64_t mslite_integer_at(const void *data, int32_t type, int64_t index);

#ifdef __cplusplus
}
#endif

#endif
