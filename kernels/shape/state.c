/* Shape rules of variables. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_variable) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}
