/* Convolution of 8-bit integers as a GEMM (im2col): rows are output pixels, columns output channels, k is the window
 * [ky][kx][channel]. A part gathers the windows of its rows, including padding, in the layout of its dot product. */
#ifndef MSLITE_CONV2D_GATHER_H
#define MSLITE_CONV2D_GATHER_H

#include "convolution/geometry.h"
#include "matmul/gemm_int8.h"

typedef struct {
  mslite_convolution geometry;
  bool are_pixels; /* kernel 1 x 1, and every pixel of x is a row */
} conv2d_rows;

#define conv2d_gather MSLITE_ISA_NAME(mslite_conv2d_gather)
#define conv2d_plan_rows MSLITE_ISA_NAME(mslite_conv2d_plan_rows)
#define conv2d_schedule MSLITE_ISA_NAME(mslite_conv2d_schedule)
#define conv2d_weights MSLITE_ISA_NAME(mslite_conv2d_weights)
#define conv2d_pack_size MSLITE_ISA_NAME(mslite_conv2d_pack_size)

/* Plans the rows and the size of the GEMM. */
mslite_status conv2d_plan_rows(const mslite_node *node, conv2d_rows *rows, gemm_int8_plan *plan);

/* Completes the preparation after `plan` describes the results. */
mslite_status conv2d_schedule(const conv2d_rows *rows, gemm_int8_plan *plan, mslite_schedule *schedule);

/* Fills `weights` from the constant weight, except for x_zero and flip. Returns false if the group does not divide
 * the channels. */
bool conv2d_weights(const mslite_node *node, mslite_int8_weights *weights);

/* Returns the bytes of the packed weights. */
int64_t conv2d_pack_size(const mslite_node *node);

/* A gemm_int8_stage that reads x, padded with x_zeros[image * zero_step]. */
void conv2d_gather(const conv2d_rows *rows, const int8_t *x, const int8_t *x_zeros, int64_t zero_step, int64_t group,
                   int64_t row, int64_t count, int64_t k, int64_t length, int64_t step, dot_element *to);

#endif
