/* The input of a convolution with its padding around it, so that kernels read windows without asking where they are. */
#ifndef MSLITE_CONVOLUTION_PADDED_H
#define MSLITE_CONVOLUTION_PADDED_H

#include "convolution/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image [height, width, channels] that covers exactly the windows: rows and columns that no window reads are left
 * out, those outside the input are zeros. */
typedef struct {
  int64_t height, width;
  int64_t row;   /* numbers in a row */
  int64_t image; /* numbers in an image */
  bool copied;   /* false: the input is read where it is, as every window lies inside; `first` is where */
  int64_t first; /* numbers from the input's beginning to the first window */
} mslite_padded;

void mslite_plan_padded(const mslite_convolution *geometry, mslite_padded *padded);

/* Fills `to` with row `row`, counted over all images; numbers have `size` bytes. */
void mslite_pad_row(const mslite_convolution *geometry, const mslite_padded *padded, const void *x, int64_t row,
                    size_t size, void *to);

#ifdef __cplusplus
}
#endif

#endif
