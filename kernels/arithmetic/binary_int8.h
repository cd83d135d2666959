/* Binary operators on quantized integers: shared by the portable and the vector kernel. */
#ifndef MSLITE_BINARY_INT8_H
#define MSLITE_BINARY_INT8_H

#include "arithmetic/broadcast.h"
#include "math/fixed_point.h"

/* ADD, SUB and SQUARED first rescale both operands to a common scale: twice the larger one, over 2^left. The POWERS
 * operations are for int16 with scales that are powers of two: operands are only shifted. The EVEN operations
 * compute in float32 and round once, half to even, as ONNX defines; their multipliers contain the bits of the
 * scales. */
enum {
  MSLITE_STORED_NONE,
  MSLITE_STORED_ADD,
  MSLITE_STORED_SUB,
  MSLITE_STORED_MUL,
  MSLITE_STORED_DIV,
  MSLITE_STORED_SQUARED,
  MSLITE_STORED_MAX,
  MSLITE_STORED_MIN,
  MSLITE_STORED_PRELU, /* b is the slope: `a` rescales x, `b` x times the slope */
  MSLITE_STORED_ADD_POWERS,
  MSLITE_STORED_SUB_POWERS,
  MSLITE_STORED_ADD_EVEN, /* subtracts if the scale of b is negative */
  MSLITE_STORED_MUL_EVEN
};

typedef struct {
  mslite_broadcast_plan plan;
  int32_t operation;
  int32_t type;         /* of a and y */
  int32_t size, size_b; /* bytes per element */
  int32_t zero_a, zero_b, zero_y;
  int32_t left; /* operands are multiplied by 2^left before they are rescaled */
  int32_t low, high;
  mslite_multiplier a, b, y;
} mslite_binary_int8;

/* `support` and `prepare` of the portable kernel, which supports all operations. The second fills a
 * mslite_binary_int8. */
int32_t mslite_support_binary_int8(const mslite_node *node);
mslite_status mslite_prepare_binary_int8(const mslite_node *node, void *derived, mslite_schedule *schedule);

/* Sets all members for a supported node, except for the plan. */
void mslite_set_binary_int8(const mslite_node *node, mslite_binary_int8 *numbers);

#endif
