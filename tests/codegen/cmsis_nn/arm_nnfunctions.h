/* What generated calls rely on of CMSIS-NN 7: names and members of structs, names and arguments of functions. Written
 * for these tests; reference.c computes what they are defined to compute. */
#ifndef TESTS_ARM_NNFUNCTIONS_H
#define TESTS_ARM_NNFUNCTIONS_H

#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct {
  void *buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

typedef cmsis_nn_context context;
typedef cmsis_nn_dims dims;
typedef cmsis_nn_per_channel_quant_params channels;

arm_cmsis_nn_status arm_convolve_wrapper_s8(const context *, const cmsis_nn_conv_params *, const channels *,
                                            const dims *input, const int8_t *, const dims *filter, const int8_t *,
                                            const dims *bias, const int32_t *, const dims *output, int8_t *);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *, const dims *input, const dims *filter,
                                                const dims *output);
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const context *, const cmsis_nn_dw_conv_params *, const channels *,
                                                  const dims *input, const int8_t *, const dims *filter, const int8_t *,
                                                  const dims *bias, const int32_t *, const dims *output, int8_t *);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *, const dims *input,
                                                      const dims *filter, const dims *output);
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(const context *, const cmsis_nn_fc_params *, const channels *,
                                                       const dims *input, const int8_t *, const dims *filter,
                                                       const int8_t *, const dims *bias, const int32_t *,
                                                       const dims *output, int8_t *);
int32_t arm_fully_connected_s8_get_buffer_size(const dims *filter);
arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t columns, const int32_t rows, const int8_t *,
                                      const int32_t left_offset, const int32_t right_offset, const int32_t *bias);
arm_cmsis_nn_status arm_avgpool_s8(const context *, const cmsis_nn_pool_params *, const dims *input, const int8_t *,
                                   const dims *filter, const dims *output, int8_t *);
int32_t arm_avgpool_s8_get_buffer_size(const int width, const int channel_count);
arm_cmsis_nn_status arm_max_pool_s8(const context *, const cmsis_nn_pool_params *, const dims *input, const int8_t *,
                                    const dims *filter, const dims *output, int8_t *);
arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t a_multiplier, const int32_t a_shift, const int32_t b_offset,
                                           const int32_t b_multiplier, const int32_t b_shift, const int32_t left_shift,
                                           int8_t *, const int32_t offset, const int32_t multiplier,
                                           const int32_t shift, const int32_t low, const int32_t high,
                                           const int32_t count);
arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t b_offset, int8_t *, const int32_t offset,
                                           const int32_t multiplier, const int32_t shift, const int32_t low,
                                           const int32_t high, const int32_t count);
void arm_softmax_s8(const int8_t *, const int32_t rows, const int32_t size, const int32_t multiplier,
                    const int32_t shift, const int32_t least, int8_t *);

#endif
