/* The real functions that tables of stored integers are made of. */
#ifndef MSLITE_REAL_FUNCTION_H
#define MSLITE_REAL_FUNCTION_H

#include "kernel.h"

typedef struct {
  int32_t code;
  float alpha, low, high;
} mslite_real_numbers;

/* Whether the node is a function of single elements that tables are made of, and which. */
bool mslite_real_function_of(const mslite_node *node, mslite_real_numbers *numbers);

/* The function in single precision, as TensorFlow Lite's reference kernels fill their tables. `numbers` is a
 * mslite_real_numbers. */
double mslite_real_value(const void *numbers, double x);

#endif
