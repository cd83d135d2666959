/* What the functions of arm_nnfunctions.h are defined to compute: TensorFlow Lite's int8 arithmetic, with two
 * roundings. Working memory is written to its end, so that a step with too little of it is found. */
#include <string.h>

#include "arm_nnfunctions.h"

#ifndef NEEDED_BYTES
#define NEEDED_BYTES 0
#endif

static int32_t rescaled(int32_t value, int32_t multiplier, int32_t shift) {
  const int64_t product = (int64_t)(shift > 0 ? value * (1 << shift) : value) * multiplier;
  const int32_t high = (int32_t)((product + ((int64_t)1 << 30)) >> 31), right = shift > 0 ? 0 : -shift;
  const int64_t half = right > 0 ? (int64_t)1 << (right - 1) : 0;
  return (int32_t)(high < 0 ? -((-(int64_t)high + half) >> right) : ((int64_t)high + half) >> right);
}

static int8_t limited(int32_t value, int32_t low, int32_t high) {
  return (int8_t)(value < low ? low : value > high ? high : value);
}

static void use(const context *memory) {
  if (memory->buf != NULL && memory->size > 0) memset(memory->buf, 0x5a, (size_t)memory->size);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *params, const dims *input,
                                                const dims *filter, const dims *output) {
  (void)output;
  const int32_t terms = filter->h * filter->w * input->c;
  const int is_pixel = filter->h * filter->w == 1 && params->padding.w == 0 && params->padding.h == 0;
  return NEEDED_BYTES + (is_pixel ? 0 : (terms + 3) / 4 * 16);
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const context *memory, const cmsis_nn_conv_params *params,
                                            const channels *scales, const dims *input, const int8_t *x,
                                            const dims *filter, const int8_t *weights, const dims *bias,
                                            const int32_t *biases, const dims *output, int8_t *y) {
  if (filter->c != input->c || filter->n != output->c || bias->c != output->c) return ARM_CMSIS_NN_ARG_ERROR;
  use(memory);
  for (int32_t n = 0; n < output->n; ++n, x += input->h * input->w * input->c) {
    for (int32_t at = 0; at < output->h * output->w; ++at) {
      const int32_t top = at / output->w * params->stride.h - params->padding.h;
      const int32_t left = at % output->w * params->stride.w - params->padding.w;
      for (int32_t c = 0; c < output->c; ++c) {
        int32_t sum = biases[c];
        for (int32_t tap = 0; tap < filter->h * filter->w; ++tap) {
          const int32_t row = top + tap / filter->w * params->dilation.h;
          const int32_t column = left + tap % filter->w * params->dilation.w;
          if (row < 0 || row >= input->h || column < 0 || column >= input->w) continue;
          for (int32_t k = 0; k < input->c; ++k) {
            sum += (x[(row * input->w + column) * input->c + k] + params->input_offset) *
                   weights[(c * filter->h * filter->w + tap) * input->c + k];
          }
        }
        sum = rescaled(sum, scales->multiplier[c], scales->shift[c]) + params->output_offset;
        *y++ = limited(sum, params->activation.min, params->activation.max);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *params, const dims *input,
                                                      const dims *filter, const dims *output) {
  (void)params;
  (void)input;
  (void)filter;
  (void)output;
  return 0;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const context *memory, const cmsis_nn_dw_conv_params *params,
                                                  const channels *scales, const dims *input, const int8_t *x,
                                                  const dims *filter, const int8_t *weights, const dims *bias,
                                                  const int32_t *biases, const dims *output, int8_t *y) {
  if (input->c * params->ch_mult != output->c || filter->c != output->c || bias->c != output->c) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  use(memory);
  for (int32_t n = 0; n < output->n; ++n, x += input->h * input->w * input->c) {
    for (int32_t at = 0; at < output->h * output->w; ++at) {
      for (int32_t c = 0; c < output->c; ++c) {
        int32_t sum = biases[c];
        for (int32_t tap = 0; tap < filter->h * filter->w; ++tap) {
          const int32_t row =
              at / output->w * params->stride.h - params->padding.h + tap / filter->w * params->dilation.h;
          const int32_t column =
              at % output->w * params->stride.w - params->padding.w + tap % filter->w * params->dilation.w;
          if (row < 0 || row >= input->h || column < 0 || column >= input->w) continue;
          sum += (x[(row * input->w + column) * input->c + c / params->ch_mult] + params->input_offset) *
                 weights[tap * output->c + c];
        }
        sum = rescaled(sum, scales->multiplier[c], scales->shift[c]) + params->output_offset;
        *y++ = limited(sum, params->activation.min, params->activation.max);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_fully_connected_s8_get_buffer_size(const dims *filter) { return filter->c * (int32_t)sizeof(int32_t); }

/* Where there are sums, they take the place of the bias and of the offset, as with Helium. */
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(const context *memory, const cmsis_nn_fc_params *params,
                                                       const channels *scales, const dims *input, const int8_t *x,
                                                       const dims *filter, const int8_t *weights, const dims *bias,
                                                       const int32_t *biases, const dims *output, int8_t *y) {
  const int32_t *sums = memory->buf;
  const int32_t offset = sums != NULL ? 0 : params->input_offset;
  if (filter->c != output->c || bias->c != output->c || params->filter_offset != 0) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t n = 0; n < input->n; ++n, x += filter->n) {
    for (int32_t c = 0; c < output->c; ++c) {
      int32_t sum = sums != NULL ? sums[c] : biases[c];
      for (int32_t k = 0; k < filter->n; ++k) sum += (x[k] + offset) * weights[c * filter->n + k];
      sum = rescaled(sum, scales->multiplier[c], scales->shift[c]) + params->output_offset;
      *y++ = limited(sum, params->activation.min, params->activation.max);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_vector_sum_s8(int32_t *sums, const int32_t columns, const int32_t rows, const int8_t *weights,
                                      const int32_t left_offset, const int32_t right_offset, const int32_t *bias) {
  for (int32_t row = 0; row < rows; ++row) {
    sums[row] = bias != NULL ? bias[row] : 0;
    for (int32_t k = 0; k < columns; ++k) sums[row] += (weights[row * columns + k] + right_offset) * left_offset;
  }
  return ARM_CMSIS_NN_SUCCESS;
}

static void pool(const cmsis_nn_pool_params *params, const dims *input, const int8_t *x, const dims *filter,
                 const dims *output, int average, int8_t *y) {
  for (int32_t at = 0; at < output->h * output->w; ++at) {
    for (int32_t c = 0; c < output->c; ++c) {
      int32_t sum = 0, most = -128, count = 0;
      for (int32_t tap = 0; tap < filter->h * filter->w; ++tap) {
        const int32_t row = at / output->w * params->stride.h - params->padding.h + tap / filter->w;
        const int32_t column = at % output->w * params->stride.w - params->padding.w + tap % filter->w;
        if (row < 0 || row >= input->h || column < 0 || column >= input->w) continue;
        const int32_t value = x[(row * input->w + column) * input->c + c];
        sum += value;
        most = value > most ? value : most;
        ++count;
      }
      if (average) most = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
      *y++ = limited(most, params->activation.min, params->activation.max);
    }
  }
}

int32_t arm_avgpool_s8_get_buffer_size(const int width, const int channel_count) {
  (void)width;
  (void)channel_count;
  return 0;
}

arm_cmsis_nn_status arm_avgpool_s8(const context *memory, const cmsis_nn_pool_params *params, const dims *input,
                                   const int8_t *x, const dims *filter, const dims *output, int8_t *y) {
  use(memory);
  pool(params, input, x, filter, output, 1, y);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_max_pool_s8(const context *memory, const cmsis_nn_pool_params *params, const dims *input,
                                    const int8_t *x, const dims *filter, const dims *output, int8_t *y) {
  use(memory);
  pool(params, input, x, filter, output, 0, y);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t a_multiplier, const int32_t a_shift, const int32_t b_offset,
                                           const int32_t b_multiplier, const int32_t b_shift, const int32_t left_shift,
                                           int8_t *y, const int32_t offset, const int32_t multiplier,
                                           const int32_t shift, const int32_t low, const int32_t high,
                                           const int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t sum = rescaled((a[i] + a_offset) * (1 << left_shift), a_multiplier, a_shift) +
                        rescaled((b[i] + b_offset) * (1 << left_shift), b_multiplier, b_shift);
    y[i] = limited(rescaled(sum, multiplier, shift) + offset, low, high);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, const int32_t a_offset,
                                           const int32_t b_offset, int8_t *y, const int32_t offset,
                                           const int32_t multiplier, const int32_t shift, const int32_t low,
                                           const int32_t high, const int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t product = (a[i] + a_offset) * (b[i] + b_offset);
    y[i] = limited(rescaled(product, multiplier, shift) + offset, low, high);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
