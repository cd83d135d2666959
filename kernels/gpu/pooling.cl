// Average and maximum of windows. Activations are [batch, height, width, channels]. An item computes LANES channels, 4
// or 1.
#if LANES == 4
#define REAL float4
#define ACTIVATE activate4
#define LOAD load4
#define STORE store4
#define FUSED_ALL(value, at) FUSED4(value, at, 4)
#else
#define REAL float
#define ACTIVATE activate
#define LOAD load
#define STORE store
#define FUSED_ALL FUSED
#endif

kernel void pooling(INPUT(x), OUTPUT(y), int height, int width, int out_height, int out_width, int kernel_h,
                    int kernel_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int pad_h, int pad_w,
                    int after_h, int after_w, int channels EPILOGUE) {
  const int channel = get_global_id(0) * LANES;
  const int column = get_global_id(1);
  const int row = get_global_id(2) % out_height;
  const int image = get_global_id(2) / out_height;
#ifdef AVERAGE
  REAL value = 0.0f;
#else
  REAL value = -INFINITY;
#endif
  int taps = 0;
  int counted = 0;  // taps that are in the input or its padding
  for (int i = 0; i < kernel_h; ++i) {
    const int source_row = row * stride_h - pad_h + i * dilation_h;
    for (int j = 0; j < kernel_w; ++j) {
      const int source = column * stride_w - pad_w + j * dilation_w;
      if (source_row < height + after_h && source < width + after_w) ++counted;
      if (source_row < 0 || source_row >= height || source < 0 || source >= width) continue;
      const REAL v = LOAD(x, ((image * height + source_row) * width + source) * channels + channel);
      ++taps;
#ifdef AVERAGE
      value += v;
#else
      value = v > value || isnan(v) ? v : value;
#endif
    }
  }
#ifdef AVERAGE
#ifdef COUNT_PADDING
  value /= (float)max(counted, 1);
#else
  value /= (float)max(taps, 1);
#endif
#endif
  const int at = ((image * out_height + row) * out_width + column) * channels + channel;
  STORE(y, at, FUSED_ALL(ACTIVATE(value), at));
}
