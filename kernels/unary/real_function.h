/* The float functions that tables of quantized integers are computed from. */
#ifndef MSLITE_REAL_FUNCTION_H
#define MSLITE_REAL_FUNCTION_H

#include "kernel.h"

typedef struct {
  int32_t code;
  float alpha, low, high;
} mslite_float_function;

/* Returns whether the node is an element-wise function with a table, and sets its parameters. */
bool mslite_float_function_of(const mslite_node *node, mslite_float_function *numbers);

/* Returns the function in float32, as TensorFlow Lite's reference kernels fill their tables. `numbers` is a
 * mslite_float_function. */
double mslite_float_function_value(const void *numbers, double x);

#endif
