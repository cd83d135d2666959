/* Element-wise functions of quantized integers that TensorFlow Lite's reference kernels compute in fixed-point
 * arithmetic. */
#ifndef MSLITE_FIXED_UNARY_H
#define MSLITE_FIXED_UNARY_H

#include "kernel.h"
#include "math/fixed_point.h"

enum { MSLITE_SIGMOID_POINTS = 256 };

typedef struct {
  int32_t code;
  int32_t zero_x, zero_y;
  int32_t low, high;
  mslite_multiplier positive, negative; /* of hard swish: to the output's scale, and to [-1, 1] */
  int32_t turns;                        /* negative inputs give positive outputs: the slope is negative */
  int32_t factor, left;                 /* sigmoid and tanh of int16: position in the table = (q * factor) / 2^left */
  float scale_x, scale_y;               /* square roots */
} mslite_fixed_unary;

/* Returns whether the node, whose operands are quantized integers of one type, has such a formula, and sets its
 * parameters. int8 results that round half to even have none. */
bool mslite_fixed_unary_of(const mslite_node *node, mslite_fixed_unary *numbers);

/* Returns the formula's result for the integer `q`. `sigmoid`: the table, for int16. */
int32_t mslite_fixed_unary_value(const mslite_fixed_unary *numbers, const uint16_t *sigmoid, int32_t q);

/* Fills the table with sigmoid(i / 24) in Q0.16. */
void mslite_fill_sigmoid(uint16_t *table);

#endif
