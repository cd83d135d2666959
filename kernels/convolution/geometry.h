/* The resolved parameters of a 2-D convolution. Activations are [batch, h, w, channels]. */
#ifndef MSLITE_CONVOLUTION_GEOMETRY_H
#define MSLITE_CONVOLUTION_GEOMETRY_H

#include "convolution/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t batch;
  mslite_axis height;
  mslite_axis width;
  int64_t in_channels;
  int64_t out_channels;
  int64_t group;
  int64_t group_in;  /* input channels per group */
  int64_t group_out; /* output channels per group */
  int32_t activation;
  bool has_bias;
} mslite_convolution;

/* The attributes of Conv2DFusion, Conv2DAddFusion, AdderFusion or Conv2dTransposeFusion in one form. */
typedef struct {
  mslite_longs kernel_size, stride, dilation, pad_list, output_paddings;
  int32_t pad_mode;
  int64_t group;
  int32_t activation;
  bool transposed;
} mslite_convolution_attributes;

void mslite_convolution_read(int32_t op, const void *params, mslite_convolution_attributes *attributes);

/* Resolves the geometry from the attributes and the shapes of x [batch, h, w, in] and weight ([out, kh, kw, in /
 * group], transposed: [in, kh, kw, out / group]), whose dimensions are all known. On failure `reason` is set. */
mslite_status mslite_convolution_resolve(const mslite_convolution_attributes *attributes, const mslite_tensor *x,
                                         const mslite_tensor *weight, mslite_convolution *geometry,
                                         const char **reason);

/* Reads the attributes and resolves the geometry of a node whose shapes are known. */
mslite_status mslite_convolution_of(const mslite_node *node, mslite_convolution *geometry);

/* Returns whether all tensors of the node are of `type`, the bias has out_channels elements, and the shapes match. */
bool mslite_convolution_fits(const mslite_node *node, int32_t type, mslite_convolution *geometry);

/* Returns whether input channels, output channels and groups are the same number. */
static inline bool mslite_is_depthwise(const mslite_convolution *geometry) {
  return geometry->group > 1 && geometry->group_in == 1 && geometry->group_out == 1;
}

#ifdef __cplusplus
}
#endif

#endif
