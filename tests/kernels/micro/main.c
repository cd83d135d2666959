/* The kernels for generated C, emulated, give the bits of the portable ones: random calls, outputs beside their inputs
 * and over them, as far as the kernels allow. */
#include <stdarg.h>
#include <stdio.h>

#include "calls.h"

int print(const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int written = vprintf(format, list);
  va_end(list);
  return written;
}

typedef bool (*maker)(int32_t op);
int test_op(int32_t op, maker make, const mslite_kernel *tried, const mslite_kernel *oracle, int32_t seeds);
bool make_pool(int32_t op);
bool make_softmax(int32_t op);
bool make_binary(int32_t op);
int test_depthwise(const mslite_kernel *tried, bool usual, int32_t seeds);

#define DECLARE(name) extern const mslite_kernel mslite_kernel_##name;
#define EACH_DEPTHWISE(X)            \
  X(depthwise_3x3_int8_dsp, true)    \
  X(depthwise_3x3_int8_mve, true)    \
  X(depthwise_pixel_int8_mve, true)  \
  X(depthwise_pixel_int8_mve, false) \
  X(depthwise_int8_micro, false)     \
  X(depthwise_int8_dsp, false)       \
  X(depthwise_int8_micro, true)      \
  X(depthwise_int8_dsp, true)
#define ALL(X, name, op, make, oracle) \
  X(name##_micro, op, make, oracle) X(name##_dsp, op, make, oracle) X(name##_mve, op, make, oracle)
#define EACH_OTHER(X)                                                           \
  ALL(X, average_pool_int8, AvgPoolFusion, make_pool, average_pool_int8_scalar) \
  ALL(X, maximum_pool_int8, MaxPoolFusion, make_pool, maximum_pool_int8_scalar) \
  ALL(X, softmax_int8, Softmax, make_softmax, softmax_int8)                     \
  ALL(X, add_int8, AddFusion, make_binary, binary_int8_AddFusion)               \
  ALL(X, subtract_int8, SubFusion, make_binary, binary_int8_SubFusion)          \
  ALL(X, multiply_int8, MulFusion, make_binary, binary_int8_MulFusion)

#define DECLARE_DEPTHWISE(name, usual) DECLARE(name)
#define DECLARE_OTHER(name, op, make, oracle) DECLARE(name) DECLARE(oracle)
EACH_DEPTHWISE(DECLARE_DEPTHWISE)
EACH_OTHER(DECLARE_OTHER)

int main(void) {
  enum { SEEDS = 300 };
  int wrong = 0;
#define TEST_DEPTHWISE(name, usual) wrong |= test_depthwise(&mslite_kernel_##name, usual, SEEDS);
#define TEST_OTHER(name, op, make, oracle) \
  wrong |= test_op(MSLITE_OP_##op, make, &mslite_kernel_##name, &mslite_kernel_##oracle, SEEDS);
  EACH_DEPTHWISE(TEST_DEPTHWISE)
  EACH_OTHER(TEST_OTHER)
  return wrong;
}
