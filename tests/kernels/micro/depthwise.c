/* Random depthwise convolutions. */
#include <string.h>

#include "calls.h"
#include "convolution/geometry.h"
#include "convolution/stored.h"

extern const mslite_kernel mslite_kernel_conv2d_int8;

static call c;
static mslite_Conv2DFusion params;
static int64_t stride[2], dilation[2], pads[4];

/* A depthwise convolution of random numbers. */
static bool make(bool usual) {
  memset(&params, 0, sizeof params);
  calls_begin();
  const int32_t channels = one_in(3) ? chance(2, 70) : chance(2, 24),
                multiplier = !usual && one_in(3) ? chance(2, 3) : 1;
  const int32_t height = usual ? 3 : chance(1, 6), width = usual ? 3 : chance(1, 6);
  for (int32_t i = 0; i < 2; ++i) {
    stride[i] = one_in(2) ? 1 : chance(1, 3);
    dilation[i] = usual || one_in(2) ? 1 : chance(1, 3);
  }
  if (one_in(2)) stride[1] = stride[0];
  for (int32_t i = 0; i < 4; ++i) pads[i] = one_in(3) ? 1 : chance(usual ? 0 : -1, 3);
  params.stride = (mslite_longs){2, stride};
  params.dilation = (mslite_longs){2, dilation};
  params.pad_list = (mslite_longs){4, pads};
  params.pad_mode = one_in(2) ? MSLITE_PAD_MODE_SAME : MSLITE_PAD_MODE_PAD;
  params.group = channels;
  const int32_t kinds[4] = {MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, MSLITE_ACTIVATION_TYPE_RELU,
                            MSLITE_ACTIVATION_TYPE_RELU6, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION};
  params.activation_type = kinds[chance(0, 3)];
  const int64_t x_dims[4] = {one_in(4) ? 2 : 1, chance(1, 14), one_in(5) ? chance(20, 60) : chance(1, 14), channels};
  set_shape(&c.tensors[0], MSLITE_INT8, 4, x_dims);
  const int64_t outputs = channels * multiplier, w_dims[4] = {outputs, height, width, 1};
  set_shape(&c.tensors[1], MSLITE_INT8, 4, w_dims);
  set_shape(&c.tensors[2], MSLITE_INT32, 1, &outputs);
  set_shape(&c.output, MSLITE_INT8, 4, x_dims);
  c.tensors[0].data = random_bytes(mslite_element_count(&c.tensors[0]));
  int8_t *taps = random_bytes(mslite_element_count(&c.tensors[1]));
  if (!one_in(4)) {
    for (int64_t i = 0; i < mslite_element_count(&c.tensors[1]); ++i)
      taps[i] = (int8_t)(taps[i] < -127 ? -127 : taps[i]);
  }
  c.tensors[1].data = taps;
  int32_t *bias = calls_memory(outputs * 4);
  for (int64_t i = 0; i < outputs; ++i) bias[i] = chance(-20000, 20000) * (one_in(50) ? 50000 : 1);
  c.tensors[2].data = bias;
  const double scale = chance(1, 1000) / 8192.0;
  set_record(&c, 0, scale, chance(-128, 127), one_in(2) ? MSLITE_INT8 : MSLITE_UINT8);
  const int32_t records = one_in(2) ? 1 : (int32_t)outputs;
  if (records > CALL_CHANNELS) return false;
  for (int32_t i = 0; i < records; ++i) {
    const mslite_quant record = {chance(1, 1000) / 8192.0, 0, MSLITE_INT8, 0};
    c.records[1][i] = record;
  }
  c.tensors[1].quant = c.records[1];
  c.tensors[1].quant_count = records;
  const double step = one_in(6) ? scale / 64 : scale * chance(1, 1000) / 8192.0 * height * width * 64;
  set_output_record(&c, step, one_in(2) ? -128 : chance(-128, 127), MSLITE_INT8, one_in(10));
  finish_call(&c, MSLITE_OP_Conv2DFusion, &params, one_in(5) ? 2 : 3);
  mslite_convolution g;
  if (mslite_convolution_of(&c.node, &g) != MSLITE_OK || g.height.output < 1 || g.width.output < 1) return false;
  c.output.dims[1] = g.height.output;
  c.output.dims[2] = g.width.output;
  c.output.dims[3] = outputs;
  return mslite_element_count(&c.output) < 9000 && mslite_element_count(&c.tensors[0]) < 9000;
}

int test_depthwise(const mslite_kernel *tried, bool usual, int32_t seeds) {
  int32_t compared = 0;
  for (int32_t seed = 1; seed <= seeds; ++seed) {
    chance_state = (uint64_t)seed * 7919;
    chance(0, 1);
    if (!make(usual)) continue;
    const int32_t result = compare(tried, &mslite_kernel_conv2d_int8, &c);
    if (result < 0) {
      print("seed %d: x %d %d %d stride %d %d pads %d %d mode %d act %d kernel %d %d dil %d %d outputs %d\n", seed,
            (int)c.tensors[0].dims[1], (int)c.tensors[0].dims[2], (int)c.tensors[0].dims[3], (int)stride[0],
            (int)stride[1], (int)pads[0], (int)pads[2], params.pad_mode, params.activation_type,
            (int)c.tensors[1].dims[1], (int)c.tensors[1].dims[2], (int)dilation[0], (int)dilation[1],
            (int)c.tensors[1].dims[0]);
      return 1;
    }
    compared += result;
  }
  print("%s: %d calls\n", tried->name, compared);
  return compared == 0;
}
