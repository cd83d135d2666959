// y[batch][m][n] = sum over k of a[m, k] * b[k, n], plus bias[n]. `matrices` has, for each batch, the indices of its
// matrices a and b.
//
// An item computes ROWS rows of four columns. TRANSPOSED: b is [n, k], contiguous along k, and k is a multiple of four.
// FOURS: b is [k, n], and n is a multiple of four. Otherwise single elements are read. WHOLE_ROWS, only with FOURS: a
// is [m, k], and k is a multiple of four.
#ifndef ROWS
#define ROWS 4
#endif

kernel void matmul(INPUT(a), INPUT(b), INPUT(bias), OUTPUT(y), global const int *matrices, int m, int n, int k,
                   int a_row, int a_column, int b_row, int b_column EPILOGUE) {
  const int column = get_global_id(0) * 4;
  const int row = get_global_id(1) * ROWS;
  const int batch = get_global_id(2);
  const int matrix_a = matrices[2 * batch];
  const int matrix_b = matrices[2 * batch + 1];
  const int left = min(4, n - column);
  int rows[ROWS];
  float4 sum[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    rows[r] = min(row + r, m - 1);
    sum[r] = 0.0f;
  }
  const int4 columns = min((int4)(column, column + 1, column + 2, column + 3), (int4)(n - 1));
#ifdef TRANSPOSED
  const int4 rows_b = matrix_b * n + columns;
  for (int i = 0; i < k; i += 4) {
    const float4 b0 = load4_of_row(b, rows_b.x, i, k);
    const float4 b1 = load4_of_row(b, rows_b.y, i, k);
    const float4 b2 = load4_of_row(b, rows_b.z, i, k);
    const float4 b3 = load4_of_row(b, rows_b.w, i, k);
    for (int r = 0; r < ROWS; ++r) {
      const float4 v = load4_of_row(a, matrix_a * m + rows[r], i, k);
      sum[r] += (float4)(dot(v, b0), dot(v, b1), dot(v, b2), dot(v, b3));
    }
  }
#elif defined(WHOLE_ROWS)
  for (int i = 0; i < k; i += 4) {
    const int row_b = matrix_b * k + i;
    const float4 w0 = load4_of_row(b, row_b, column, n);
    const float4 w1 = load4_of_row(b, row_b + 1, column, n);
    const float4 w2 = load4_of_row(b, row_b + 2, column, n);
    const float4 w3 = load4_of_row(b, row_b + 3, column, n);
    for (int r = 0; r < ROWS; ++r) {
      const float4 v = load4_of_row(a, matrix_a * m + rows[r], i, k);
      sum[r] += v.x * w0 + v.y * w1 + v.z * w2 + v.w * w3;
    }
  }
#else
  const int first_a = matrix_a * m * k;
  for (int i = 0; i < k; ++i) {
#ifdef FOURS
    const float4 w = load4_of_row(b, matrix_b * k + i, column, n);
#else
    const int4 from = matrix_b * k * n + i * b_row + columns * b_column;
    const float4 w = (float4)(load(b, from.x), load(b, from.y), load(b, from.z), load(b, from.w));
#endif
    for (int r = 0; r < ROWS; ++r) sum[r] += load(a, first_a + rows[r] * a_row + i * a_column) * w;
  }
#endif
  float4 start = 0.0f;
#ifdef BIAS
  start = (float4)(load(bias, column), left > 1 ? load(bias, column + 1) : 0.0f,
                   left > 2 ? load(bias, column + 2) : 0.0f, left > 3 ? load(bias, column + 3) : 0.0f);
#endif
  for (int r = 0; r < ROWS && row + r < m; ++r) {
    const int at = (batch * m + row + r) * n + column;
    store_some(y, at, FUSED4(activate4(sum[r] + start), at, left), left);
  }
}
