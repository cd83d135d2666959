// Convolutions. Activations are [batch, height, width, channels].
//
// Weights are [group][kernel height][kernel width][input channels of a group][output channels of a group, rounded up to
// fours]. An item computes four output channels of PIXELS neighbours in a row.
#ifndef PIXELS
#define PIXELS 4
#endif


kernel void conv2d(global const float *x, global const float *weight, global const float *bias, global float *y, int height,
                   int width, int out_height, int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w,
                   int dilation_h, int dilation_w, int pad_h, int pad_w, int channels, int group_in, int group_out,
                   int group_fours, int out_channels) {
  const int four = get_global_id(0);
  const int column = get_global_id(1) * PIXELS;
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
  const int group = four / group_fours;
  const int channel = four % group_fours * 4;  // within the group
  const int left = min(4, group_out - channel);
  const int first_out = group * group_out + channel;

  float4 sum[PIXELS];
  float4 start = 0.0f;
#ifdef BIAS
  start = (float4)(bias[first_out], left > 1 ? bias[first_out + 1] : 0.0f, left > 2 ? bias[first_out + 2] : 0.0f,
                   left > 3 ? bias[first_out + 3] : 0.0f);
#endif
  for (int p = 0; p < PIXELS; ++p) sum[p] = start;

  const int step = group_fours * 4;  // from one input channel's weights to the next one's
  for (int i = 0; i < kernel_h; ++i) {
    const int source_row = row * stride_h - pad_h + i * dilation_h;
    if (source_row < 0 || source_row >= height) continue;
    global const float *line = x + (image * height + source_row) * width * channels + group * group_in;
    for (int j = 0; j < kernel_w; ++j) {
      global const float *taps = weight + ((group * kernel_h + i) * kernel_w + j) * group_in * step + channel;
      int offset[PIXELS];
      float inside[PIXELS];
      for (int p = 0; p < PIXELS; ++p) {
        const int source = (column + p) * stride_w - pad_w + j * dilation_w;
        const bool is_inside = source >= 0 && source < width;
        offset[p] = is_inside ? source * channels : 0;
        inside[p] = is_inside ? 1.0f : 0.0f;
      }
#ifdef FOURS  // input channels of a group are a multiple of four
      for (int k = 0; k < group_in; k += 4) {
        const float4 w0 = vload4(0, taps + k * step);
        const float4 w1 = vload4(0, taps + (k + 1) * step);
        const float4 w2 = vload4(0, taps + (k + 2) * step);
        const float4 w3 = vload4(0, taps + (k + 3) * step);
        for (int p = 0; p < PIXELS; ++p) {
          const float4 v = inside[p] != 0.0f ? vload4(0, line + offset[p] + k) : (float4)(0.0f);
          sum[p] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
        }
      }
#else
      for (int k = 0; k < group_in; ++k) {
        const float4 w = vload4(0, taps + k * step);
        for (int p = 0; p < PIXELS; ++p) sum[p] += (inside[p] != 0.0f ? line[offset[p] + k] : 0.0f) * w;
      }
#endif
    }
  }
  for (int p = 0; p < PIXELS && column + p < out_width; ++p) {
    store_some(activate4(sum[p]), left,
               y + ((image * out_height + row) * out_width + column + p) * out_channels + first_out);
  }
}

// Each output element gathers what the input elements spread. Weights as above, with input and output channels of the
// transposed convolution.
kernel void conv2d_transpose(global const float *x, global const float *weight, global const float *bias, global float *y,
                             int height, int width, int out_height, int out_width, int kernel_h, int kernel_w,
                             int stride_h, int stride_w, int dilation_h, int dilation_w, int pad_h, int pad_w,
                             int channels, int group_in, int group_out, int group_fours, int out_channels) {
  const int four = get_global_id(0);
  const int column = get_global_id(1);
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
  const int group = four / group_fours;
  const int channel = four % group_fours * 4;
  const int left = min(4, group_out - channel);
  const int first_out = group * group_out + channel;
  float4 sum = 0.0f;
#ifdef BIAS
  sum = (float4)(bias[first_out], left > 1 ? bias[first_out + 1] : 0.0f, left > 2 ? bias[first_out + 2] : 0.0f,
                 left > 3 ? bias[first_out + 3] : 0.0f);
#endif
  const int step = group_fours * 4;
  for (int i = 0; i < kernel_h; ++i) {
    const int spread_row = row + pad_h - i * dilation_h;
    if (spread_row < 0 || spread_row % stride_h != 0 || spread_row / stride_h >= height) continue;
    for (int j = 0; j < kernel_w; ++j) {
      const int spread_column = column + pad_w - j * dilation_w;
      if (spread_column < 0 || spread_column % stride_w != 0 || spread_column / stride_w >= width) continue;
      global const float *source =
          x + ((image * height + spread_row / stride_h) * width + spread_column / stride_w) * channels + group * group_in;
      global const float *taps = weight + ((group * kernel_h + i) * kernel_w + j) * group_in * step + channel;
      for (int k = 0; k < group_in; ++k) sum += source[k] * vload4(0, taps + k * step);
    }
  }
  store_some(activate4(sum), left, y + ((image * out_height + row) * out_width + column) * out_channels + first_out);
}

// One input channel for each output channel. Weights are [kernel height][kernel width][channels]. REAL is float4 where
// channels come in fours; `channels` and `lanes` count these.
#ifdef REAL
#if LANES == 4
#define ACTIVATE activate4
#else
#define ACTIVATE activate
#endif

kernel void depthwise(global const REAL *x, global const REAL *weight, global const REAL *bias, global REAL *y, int height,
                      int width, int out_height, int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w,
                      int dilation_h, int dilation_w, int pad_h, int pad_w, int channels) {
  const int channel = get_global_id(0);
  const int column = get_global_id(1);
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
#ifdef BIAS
  REAL sum = bias[channel];
#else
  REAL sum = 0.0f;
#endif
  for (int i = 0; i < kernel_h; ++i) {
    const int source_row = row * stride_h - pad_h + i * dilation_h;
    if (source_row < 0 || source_row >= height) continue;
    for (int j = 0; j < kernel_w; ++j) {
      const int source = column * stride_w - pad_w + j * dilation_w;
      if (source < 0 || source >= width) continue;
      sum += x[((image * height + source_row) * width + source) * channels + channel] *
             weight[(i * kernel_w + j) * channels + channel];
    }
  }
  y[((image * out_height + row) * out_width + column) * channels + channel] = ACTIVATE(sum);
}
#endif
