// Resizes two dimensions of x, [outer, height, middle, width, inner]. Each output row is computed from `taps_h` rows:
// `rows` has their indices, `row_weights` their weights; likewise for columns. A first index of -1 means that the
// element is outside and gets the value `outside`.
kernel void resize(INPUT(x), OUTPUT(y), global const int *rows, global const float *row_weights,
                   global const int *columns, global const float *column_weights, int height, int middle, int width,
                   int inner, int out_height, int out_width, int taps_h, int taps_w, float outside, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  int rest = at;
  const int in = rest % inner;
  rest /= inner;
  const int column = rest % out_width;
  rest /= out_width;
  const int mid = rest % middle;
  rest /= middle;
  const int row = rest % out_height;
  const int outer = rest / out_height;
  if (rows[row * taps_h] < 0 || columns[column * taps_w] < 0) {
    store(y, at, outside);
    return;
  }
  float total = 0.0f;
  for (int i = 0; i < taps_h; ++i) {
    float line = 0.0f;
    for (int j = 0; j < taps_w; ++j) {
      const int from = ((outer * height + rows[row * taps_h + i]) * middle + mid) * width + columns[column * taps_w + j];
      line += column_weights[column * taps_w + j] * load(x, from * inner + in);
    }
    total += row_weights[row * taps_h + i] * line;
  }
  store(y, at, total);
}
