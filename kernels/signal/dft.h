/* What the kernel and the shape rule of Dft share. */
#ifndef MSLITE_SIGNAL_DFT_H
#define MSLITE_SIGNAL_DFT_H

#include "shape/shape.h"

/* The length of the transform: the second input, or what follows from the size of the axis. False when it is not
 * known (the axis then has a symbol, or the length is computed by the model). */
static inline bool mslite_dft_length_of(const mslite_Dft *attributes, const mslite_tensor *x,
                                        const mslite_tensor *length, int64_t *result) {
  if (length != NULL) return mslite_known_value(length, 0, result) && !mslite_is_symbol(*result);
  const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
  if (axis < 0 || mslite_is_symbol(x->dims[axis])) return false;
  *result = attributes->inverse && attributes->onesided ? 2 * (x->dims[axis] - 1) : x->dims[axis];
  return true;
}

static inline bool mslite_dft_length(const mslite_node *node, int64_t *result) {
  return mslite_dft_length_of(node->params, node->inputs[0], node->input_count > 1 ? node->inputs[1] : NULL, result);
}

#endif
