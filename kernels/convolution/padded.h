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
  int64_t row;   /* floats in a row */
  int64_t image; /* floats in an image */
  bool copied;   /* false: the input is read where it is, as every window lies inside; `first` is where */
  int64_t first; /* floats from the input's beginning to the first window */
} mslite_padded;

/* `always`: copies even where every window lies inside the input. */
void mslite_plan_padded(const mslite_convolution *geometry, bool always, mslite_padded *padded);

/* Fills `to` with row `row`, counted over all images. */
void mslite_pad_row(const mslite_convolution *geometry, const mslite_padded *padded, const float *x, int64_t row,
                    float *to);

#ifdef __cplusplus
}
#endif

#endif
