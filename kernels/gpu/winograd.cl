// Convolutions with 3 x 3 kernels and stride 1 as Winograd's F(TILE x TILE, 3 x 3): the output is divided into tiles of
// TILE x TILE pixels, with TILE 2 or 4, each of which needs SIZE x SIZE pixels of the input. These are transformed.
// Each of the SIZE x SIZE points of all tiles is a matrix [tiles][channels], which matmul.cl multiplies. The results
// are transformed to the output.
#define SIZE (TILE + 2)

// SIZE values, `step` apart, times the transposed matrix B.
void transform_in(float4 *v, int step) {
#if TILE == 4
  const float4 a = v[0], b = v[step], c = v[2 * step], d = v[3 * step], e = v[4 * step], f = v[5 * step];
  v[0] = 4.0f * a - 5.0f * c + e;
  v[step] = d + e - 4.0f * (b + c);
  v[2 * step] = e - d + 4.0f * (b - c);
  v[3 * step] = e - c + 2.0f * (d - b);
  v[4 * step] = e - c + 2.0f * (b - d);
  v[5 * step] = 4.0f * b - 5.0f * d + f;
#else
  const float4 a = v[0], b = v[step], c = v[2 * step], d = v[3 * step];
  v[0] = a - c;
  v[step] = b + c;
  v[2 * step] = c - b;
  v[3 * step] = b - d;
#endif
}

// SIZE values times the transposed matrix A: the first TILE of them are the result.
void transform_out(float4 *v, int step) {
#if TILE == 4
  const float4 sum = v[step] + v[2 * step], difference = v[step] - v[2 * step];
  const float4 sum2 = v[3 * step] + v[4 * step], difference2 = v[3 * step] - v[4 * step];
  v[0] += sum + sum2;
  v[step] = difference + 2.0f * difference2;
  v[2 * step] = sum + 4.0f * sum2;
  v[3 * step] = difference + 8.0f * difference2 + v[5 * step];
#else
  const float4 b = v[step], c = v[2 * step];
  v[0] += b + c;
  v[step] = b - c - v[3 * step];
#endif
}

// Computes v[SIZE * SIZE][tiles][channels] from x[batch, height, width, channels]. An item transforms four channels of
// a tile.
#ifdef TYPE_v
kernel void winograd_in(INPUT(x), OUTPUT(v), int height, int width, int pad_h, int pad_w, int channels, int rows) {
  const int channel = get_global_id(0) * 4;
  const int columns = get_global_size(1);
  const int image = get_global_id(2) / rows;
  const int first_row = get_global_id(2) % rows * TILE - pad_h;
  const int first_column = get_global_id(1) * TILE - pad_w;
  const int tile = get_global_id(2) * columns + get_global_id(1);
  const int tiles = get_global_size(2) * columns;
  float4 part[SIZE * SIZE];
  for (int i = 0; i < SIZE; ++i) {
    const int row = first_row + i;
    for (int j = 0; j < SIZE; ++j) {
      const int column = first_column + j;
      const bool is_inside = row >= 0 && row < height && column >= 0 && column < width;
      part[i * SIZE + j] =
          is_inside ? load4_of_row(x, image * height + row, column * channels + channel, width * channels) : (float4)(0.0f);
    }
    transform_in(part + i * SIZE, 1);
  }
  for (int j = 0; j < SIZE; ++j) transform_in(part + j, SIZE);
  for (int i = 0; i < SIZE * SIZE; ++i) store4(v, (i * tiles + tile) * channels + channel, part[i]);
}
#endif

// Computes y[batch, height, width, channels] from products[SIZE * SIZE][tiles][channels].
#ifdef TYPE_products
kernel void winograd_out(INPUT(products), INPUT(bias), OUTPUT(y), int height, int width, int channels, int rows EPILOGUE) {
  const int channel = get_global_id(0) * 4;
  const int columns = get_global_size(1);
  const int image = get_global_id(2) / rows;
  const int first_row = get_global_id(2) % rows * TILE;
  const int first_column = get_global_id(1) * TILE;
  const int tile = get_global_id(2) * columns + get_global_id(1);
  const int tiles = get_global_size(2) * columns;
  float4 part[SIZE * SIZE];
  for (int i = 0; i < SIZE; ++i) {
    for (int j = 0; j < SIZE; ++j) {
      part[i * SIZE + j] = load4(products, ((i * SIZE + j) * tiles + tile) * channels + channel);
    }
    transform_out(part + i * SIZE, 1);
  }
  for (int j = 0; j < TILE; ++j) transform_out(part + j, SIZE);
#ifdef BIAS
  const float4 start = load4(bias, channel);
#else
  const float4 start = 0.0f;
#endif
  for (int i = 0; i < TILE && first_row + i < height; ++i) {
    for (int j = 0; j < TILE && first_column + j < width; ++j) {
      const int at = ((image * height + first_row + i) * width + first_column + j) * channels + channel;
      store4(y, at, FUSED4(activate4(part[i * SIZE + j] + start), at, 4));
    }
  }
}
#endif
