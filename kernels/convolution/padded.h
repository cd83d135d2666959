/* The input of a convolution with its padding, so that kernels read windows without bounds checks. */
#ifndef MSLITE_CONVOLUTION_PADDED_H
#define MSLITE_CONVOLUTION_PADDED_H

#include "convolution/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image [height, width, channels] that contains exactly the windows: rows and columns that no window reads are
 * left out, those outside of the input are zeros. */
typedef struct {
  int64_t height, width;
  int64_t row;   /* elements per row */
  int64_t image; /* elements per image */
  bool copied;   /* false: the input is read in place, because all windows are inside; `first` is the offset */
  int64_t first; /* elements from the beginning of the input to the first window */
} mslite_padded;

void mslite_plan_padded(const mslite_convolution *geometry, mslite_padded *padded);

/* Returns the number of parts of the copy. Each part is some rows of one image. */
int64_t mslite_padded_parts(const mslite_convolution *geometry, const mslite_padded *padded);

/* Fills one part of the copy `to` of all images; elements have `size` bytes. */
void mslite_pad_part(const mslite_convolution *geometry, const mslite_padded *padded, const void *x, size_t size,
                     int64_t part, void *to);

#ifdef __cplusplus
}
#endif

#endif
