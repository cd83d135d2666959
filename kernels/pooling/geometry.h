/* The resolved parameters of a 2-D pooling. Activations are [batch, h, w, channels]. */
#ifndef MSLITE_POOLING_GEOMETRY_H
#define MSLITE_POOLING_GEOMETRY_H

#include "convolution/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t batch;
  mslite_axis height;
  mslite_axis width;
  int64_t channels;
  int32_t activation;
  bool average;
  bool count_include_pad;
} mslite_pooling;

/* Resolves the geometry from the attributes of a pooling operator and the shape of x, whose dimensions are all
 * known. On failure `reason` is set. */
mslite_status mslite_pooling_resolve(int32_t op, const void *params, const mslite_tensor *x, mslite_pooling *geometry,
                                     const char **reason);

/* Returns the taps that the average at output position `at` of one axis is divided by; 1 if none is inside: such
 * averages are 0. */
static inline int64_t mslite_pooling_divisor(const mslite_axis *axis, int64_t at, bool count_include_pad) {
  mslite_axis counted = *axis;
  if (count_include_pad) {
    counted.input += axis->pad_before + axis->pad_after;
    counted.pad_before = 0;
  }
  int64_t begin, end;
  mslite_window_taps(&counted, at, &begin, &end);
  return end > begin ? end - begin : 1;
}

#ifdef __cplusplus
}
#endif

#endif
