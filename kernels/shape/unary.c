/* Shape rules of the unary operators: the output has the shape of the input. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_unary) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}
