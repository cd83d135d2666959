// y[batch][m][n] = sum over k of a[m, k] * b[k, n], plus bias[n]. `matrices` has, for each batch, where a and b begin.
//
// An item computes ROWS rows of four columns. TRANSPOSED: b is [n, k], its rows adjacent along k, and k is a multiple of
// four; FOURS: b is [k, n], and n is a multiple of four; else single elements are read.
#ifndef ROWS
#define ROWS 4
#endif

kernel void matmul(global const float *a, global const float *b, global const float *bias, global float *y,
                   global const int *matrices, int m, int n, int k, int a_row, int a_column, int b_row, int b_column) {
  const int column = get_global_id(0) * 4;
  const int row = get_global_id(1) * ROWS;
  const int batch = get_global_id(2);
  a += matrices[2 * batch];
  b += matrices[2 * batch + 1];
  y += batch * m * n;
  const int left = min(4, n - column);
  int rows[ROWS];
  float4 sum[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    rows[r] = min(row + r, m - 1) * a_row;
    sum[r] = 0.0f;
  }
  const int4 columns = min((int4)(column, column + 1, column + 2, column + 3), (int4)(n - 1)) * b_column;
#ifdef TRANSPOSED
  for (int i = 0; i < k; i += 4) {
    const float4 b0 = vload4(0, b + columns.x + i);
    const float4 b1 = vload4(0, b + columns.y + i);
    const float4 b2 = vload4(0, b + columns.z + i);
    const float4 b3 = vload4(0, b + columns.w + i);
    for (int r = 0; r < ROWS; ++r) {
      const float4 v = vload4(0, a + rows[r] + i);
      sum[r] += (float4)(dot(v, b0), dot(v, b1), dot(v, b2), dot(v, b3));
    }
  }
#else
  for (int i = 0; i < k; ++i) {
#ifdef FOURS
    const float4 w = vload4(0, b + i * b_row + column);
#else
    global const float *from = b + i * b_row;
    const float4 w = (float4)(from[columns.x], from[columns.y], from[columns.z], from[columns.w]);
#endif
    for (int r = 0; r < ROWS; ++r) sum[r] += a[rows[r] + i * a_column] * w;
  }
#endif
  float4 start = 0.0f;
#ifdef BIAS
  start = (float4)(bias[column], left > 1 ? bias[column + 1] : 0.0f, left > 2 ? bias[column + 2] : 0.0f,
                   left > 3 ? bias[column + 3] : 0.0f);
#endif
  for (int r = 0; r < ROWS && row + r < m; ++r) {
    store_some(activate4(sum[r] + start), left, y + (row + r) * n + column);
  }
}
