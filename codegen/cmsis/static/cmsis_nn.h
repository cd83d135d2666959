/* Calls of CMSIS-NN, as steps of a model.
 *
 * CMSIS-NN 7.0.0 and later. Its headers have no number of a version, so this file checks what it relies on: the sizes
 * of the structs, by its calls the arguments of each function, and when a step runs, that its working memory suffices.
 */
#ifndef MSLITE_CMSIS_NN_H
#define MSLITE_CMSIS_NN_H

#ifdef __has_include
#if !__has_include(<arm_nnfunctions.h>)
#error \
    "this model calls CMSIS-NN, 7.0.0 or later: put its folder Include on the include path, and build its sources, too"
#endif
#endif

#include <arm_nnfunctions.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernels/kernel.h"

#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
#error "CMSIS_NN_USE_SINGLE_ROUNDING rounds differently from the model does; build CMSIS-NN without it"
#endif

#define MSLITE_CMSIS_NN_EXPECT(name, condition) typedef char mslite_cmsis_nn_##name[(condition) ? 1 : -1]

MSLITE_CMSIS_NN_EXPECT(dims_are_4_words, sizeof(cmsis_nn_dims) == 4 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(convolutions_are_10_words, sizeof(cmsis_nn_conv_params) == 10 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(depthwise_ones_are_11_words, sizeof(cmsis_nn_dw_conv_params) == 11 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(products_are_5_words, sizeof(cmsis_nn_fc_params) == 5 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(poolings_are_6_words, sizeof(cmsis_nn_pool_params) == 6 * sizeof(int32_t));
MSLITE_CMSIS_NN_EXPECT(channels_are_2_pointers, sizeof(cmsis_nn_per_channel_quant_params) == 2 * sizeof(int32_t *));

/* `reserved`: bytes of working memory that the step has. */

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
} mslite_cmsis_nn_product;

typedef struct {
  cmsis_nn_pool_params params;
  cmsis_nn_dims input, filter, output;
  int32_t reserved;
} mslite_cmsis_nn_pool;

/* One operand of a sum or a product: its stored integers plus `offset`, then rescaled. */
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

/* Inputs of the first three: x, weights, bias, multipliers, shifts; of the product, also the sums of its weights. */
void mslite_cmsis_nn_run_convolution(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_depthwise(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_product(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_average(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_maximum(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_sum(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_times(const mslite_run *run, int32_t phase, int32_t part);
void mslite_cmsis_nn_run_softmax(const mslite_run *run, int32_t phase, int32_t part);

/* Reports that a call was not possible: the run ends with an error. */
static inline void mslite_cmsis_nn_check(const mslite_run *run, int is_good) {
  if (!is_good && run->failure != NULL && run->failure->status == 0) run->failure->status = 4;
}

#endif
