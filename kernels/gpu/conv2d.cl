// Convolutions. Activations are [batch, height, width, channels].
//
// Weights are [group][kernel height][kernel width][input channels per group][output channels per group, rounded up to a
// multiple of four]. An item computes four output channels of PIXELS adjacent pixels of a row.
#ifndef PIXELS
#define PIXELS 4
#endif

// Four elements of the bias from `at` on, of which `left` exist.
float4 some_of_bias(INPUT(bias), int at, int left) {
#ifdef BIAS
  return (float4)(load(bias, at), left > 1 ? load(bias, at + 1) : 0.0f, left > 2 ? load(bias, at + 2) : 0.0f,
                  left > 3 ? load(bias, at + 3) : 0.0f);
#else
  return 0.0f;
#endif
}

kernel void conv2d(INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(y), int height, int width, int out_height,
                   int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w, int dilation_h,
                   int dilation_w, int pad_h, int pad_w, int channels, int group_in, int group_out, int group_fours,
                   int out_channels EPILOGUE) {
  const int four = get_global_id(0);
  const int column = get_global_id(1) * PIXELS;
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
  const int group = four / group_fours;
  const int channel = four % group_fours * 4;  // within the group
  const int left = min(4, group_out - channel);
  const int first_out = group * group_out + channel;

  float4 sum[PIXELS];
  const float4 start = some_of_bias(bias, first_out, left);
  for (int p = 0; p < PIXELS; ++p) sum[p] = start;

  const int step = group_fours * 4;  // between the weights of two input channels
  for (int i = 0; i < kernel_h; ++i) {
    const int source_row = row * stride_h - pad_h + i * dilation_h;
    if (source_row < 0 || source_row >= height) continue;
    const int line = image * height + source_row;
    for (int j = 0; j < kernel_w; ++j) {
      const int taps = ((group * kernel_h + i) * kernel_w + j) * group_in;
      int offset[PIXELS];
      float inside[PIXELS];
      for (int p = 0; p < PIXELS; ++p) {
        const int source = (column + p) * stride_w - pad_w + j * dilation_w;
        const bool is_inside = source >= 0 && source < width;
        offset[p] = (is_inside ? source * channels : 0) + group * group_in;
        inside[p] = is_inside ? 1.0f : 0.0f;
      }
#ifdef FOURS  // input channels per group are a multiple of four
      for (int k = 0; k < group_in; k += 4) {
        const float4 w0 = load4_of_row(weight, taps + k, channel, step);
        const float4 w1 = load4_of_row(weight, taps + k + 1, channel, step);
        const float4 w2 = load4_of_row(weight, taps + k + 2, channel, step);
        const float4 w3 = load4_of_row(weight, taps + k + 3, channel, step);
        for (int p = 0; p < PIXELS; ++p) {
          const float4 v =
              inside[p] != 0.0f ? load4_of_row(x, line, offset[p] + k, width * channels) : (float4)(0.0f);
          sum[p] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
        }
      }
#else
      for (int k = 0; k < group_in; ++k) {
        const float4 w = load4_of_row(weight, taps + k, channel, step);
        for (int p = 0; p < PIXELS; ++p) {
          sum[p] += (inside[p] != 0.0f ? load(x, line * width * channels + offset[p] + k) : 0.0f) * w;
        }
      }
#endif
    }
  }
  for (int p = 0; p < PIXELS && column + p < out_width; ++p) {
    const int at = ((image * out_height + row) * out_width + column + p) * out_channels + first_out;
    store_some(y, at, FUSED4(activate4(sum[p]), at, left), left);
  }
}

// Each output element gathers the contributions of the input elements. Weights as above, with input and output channels
// of the transposed convolution.
kernel void conv2d_transpose(INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(y), int height, int width, int out_height,
                             int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w, int dilation_h,
                             int dilation_w, int pad_h, int pad_w, int channels, int group_in, int group_out,
                             int group_fours, int out_channels EPILOGUE) {
  const int four = get_global_id(0);
  const int column = get_global_id(1);
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
  const int group = four / group_fours;
  const int channel = four % group_fours * 4;
  const int left = min(4, group_out - channel);
  const int first_out = group * group_out + channel;
  float4 sum = some_of_bias(bias, first_out, left);
  const int step = group_fours * 4;
  for (int i = 0; i < kernel_h; ++i) {
    const int spread_row = row + pad_h - i * dilation_h;
    if (spread_row < 0 || spread_row % stride_h != 0 || spread_row / stride_h >= height) continue;
    for (int j = 0; j < kernel_w; ++j) {
      const int spread_column = column + pad_w - j * dilation_w;
      if (spread_column < 0 || spread_column % stride_w != 0 || spread_column / stride_w >= width) continue;
      const int source =
          ((image * height + spread_row / stride_h) * width + spread_column / stride_w) * channels + group * group_in;
      const int taps = ((group * kernel_h + i) * kernel_w + j) * group_in;
      for (int k = 0; k < group_in; ++k) sum += load(x, source + k) * load4_of_row(weight, taps + k, channel, step);
    }
  }
  const int at = ((image * out_height + row) * out_width + column) * out_channels + first_out;
  store_some(y, at, FUSED4(activate4(sum), at, left), left);
}

// Depthwise: one input channel per output channel. Weights are [kernel height][kernel width][channels]. An item
// computes LANES channels, 4 or 1.
#ifdef LANES
#if LANES == 4
#define REAL float4
#define ACTIVATE activate4
#define FUSED_ALL(value, at) FUSED4(value, at, 4)
#define LOAD load4
#define STORE store4
#define LOAD_OF_ROW load4_of_row
#else
#define REAL float
#define ACTIVATE activate
#define FUSED_ALL FUSED
#define LOAD load
#define STORE store
#define LOAD_OF_ROW(operand, row, at, length) load(operand, (row) * (length) + (at))
#endif

kernel void depthwise(INPUT(x), INPUT(weight), INPUT(bias), OUTPUT(y), int height, int width, int out_height,
                      int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w, int dilation_h,
                      int dilation_w, int pad_h, int pad_w, int channels EPILOGUE) {
  const int channel = get_global_id(0) * LANES;
  const int column = get_global_id(1);
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
#ifdef BIAS
  REAL sum = LOAD(bias, channel);
#else
  REAL sum = 0.0f;
#endif
  for (int i = 0; i < kernel_h; ++i) {
    const int source_row = row * stride_h - pad_h + i * dilation_h;
    if (source_row < 0 || source_row >= height) continue;
    for (int j = 0; j < kernel_w; ++j) {
      const int source = column * stride_w - pad_w + j * dilation_w;
      if (source < 0 || source >= width) continue;
      sum += LOAD_OF_ROW(x, image * height + source_row, source * channels + channel, width * channels) *
             LOAD_OF_ROW(weight, i * kernel_w + j, channel, channels);
    }
  }
  const int at = ((image * out_height + row) * out_width + column) * channels + channel;
  STORE(y, at, FUSED_ALL(ACTIVATE(sum), at));
}
#endif
