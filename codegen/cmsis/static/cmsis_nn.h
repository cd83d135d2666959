/* Steps of a model that call CMSIS-NN 7.0.0 or later.
 *
 * CMSIS-NN's headers define no version number, so this file checks the sizes of structs, the compiler checks the
 * arguments of functions, and each step checks at run time that its workspace is large enough. */
#ifndef MSLITE_CMSIS_NN_H
#define MSLITE_CMSIS_NN_H

#ifdef __has_include
#if !__has_include(<arm_nnfunctions.h>)
#error \
    "this model needs CMSIS-NN, 7.0.0 or later: add its folder Include to the include path, and its sources to the build"
#endif
#endif

#include <arm_nnfunctions.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernels/kernel.h"

#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
#error "this model needs CMSIS-NN without CMSIS_NN_USE_SINGLE_ROUNDING, which rounds differently"
#endif

#define MSLITE_CMSIS_NN_EXPECT(name, condition) typedef char mslite_cmsis_nn_##name[(condition) ? 1 : -1]

MSLITE_CMSIS_NN_EXPECT(dims_are_4_words, sizeof(cmsis_nn_dims) == 4 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(convolutions_are_10_words, sizeof(cmsis_nn_conv_params) == 10 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(depthwise_ones_are_11_words, sizeof(cmsis_nn_dw_conv_params) == 11 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(products_are_5_words, sizeof(cmsis_nn_fc_params) == 5 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(poolings_are_6_words, sizeof(cmsis_nn_pool_params) == 6 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(channels_are_2_pointers, sizeof(cmsis_nn_per_channel_quant_params) == 2 * sizeof(int32_t *));

/* `reserved`: bytes of the step's workspace. */

typedef struct {
  cmsis_nn_conv_params params;
  cmsis_nn_dims input, filter, bias, output;
  int32_t reserved;
} mslite_cmsis_nn_convolution;

typedef struct {
  cmsis_nn_dw_conv_params params;
  cmsis_nn_dims input, filter, bias, output;
  int32_t reserved;
} mslite_cmsis_nn_depthwise;

typedef struct {
  cmsis_nn_fc_params params;
  cmsis_nn_dims input, filter, bias, output;
} mslite_cmsis_nn_fully_connected;

typedef struct {
  cmsis_nn_pool_params params;
  cmsis_nn_dims input, filter, output;
  int32_t reserved;
} mslite_cmsis_nn_pool;

/* An operand of an element-wise addition or multiplication: `offset` is added to its integers, then they are rescaled.
 */
typedef struct {
  int32_t offset, multiplier, shift;
} mslite_cmsis_nn_operand;

typedef struct {
  mslite_cmsis_nn_operand a, b, output;
  int32_t left_shift, low, high, count;
} mslite_cmsis_nn_elementwise;

typedef struct {
  int32_t rows, size, multiplier, shift, least;
} mslite_cmsis_nn_softmax;

/* Inputs of the first three: x, weights, bias, multipliers, shifts. Fully connected (product): also the sums of its
 * weights. */
void mslite_cmsis_nn_run_convolution(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_depthwise(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_fully_connected(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_average(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_maximum(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_add(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_multiply(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_softmax(const mslite_run *run, int32_t phase, int32_t part);

/* Reports a failed call, so that the run ends with an error. */
static inline void mslite_cmsis_nn_check(const mslite_run *run, int is_good) {
  if (!is_good && run->failure != NULL && run->failure->status == 0) run->failure->status = 4;
}

#endif
