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

/* The copy is made in so many parts, each of some rows of some image. */
int64_t mslite_padded_parts(const mslite_convolution *geometry, const mslite_padded *padded);

/* Fills one part of the copy `to` of all images; numbers have `size` bytes. */
void mslite_pad_part(const mslite_convolution *geometry, const mslite_padded *padded, const void *x, size_t size,
                     int64_t part, void *to);

#ifdef __cplusplus
}
#endif

#endif
