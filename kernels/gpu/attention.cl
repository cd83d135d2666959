// y[batch][n][width] = softmax(FUSED(q k)) v, where q is [n][depth], k is [depth][m], or if TRANSPOSED [m][depth], and
// v is [m][width]. `matrices` has, for each batch, the indices of its matrices q, k and v.
// FOURS: m is a multiple of four. A work group of GROUP items computes ROWS rows of q, whose scores it keeps in local
// memory. KEYS is m, rounded up to a multiple of four.
kernel void attention(INPUT(q), INPUT(k), INPUT(v), OUTPUT(y), global const int *matrices, int n, int m, int depth,
                      int width EPILOGUE) {
  local float scores[ROWS * KEYS];
  local float shared[GROUP];
  local float factors[ROWS];
  const int item = get_local_id(0);
  const int blocks = (n + ROWS - 1) / ROWS;
  const int batch = get_group_id(0) / blocks;
  const int row = get_group_id(0) % blocks * ROWS;
  const int matrix_q = matrices[3 * batch];
  const int matrix_k = matrices[3 * batch + 1];
  const int matrix_v = matrices[3 * batch + 2];

  int rows[ROWS];
  for (int r = 0; r < ROWS; ++r) rows[r] = min(row + r, n - 1);
  for (int key = 4 * item; key < m; key += 4 * GROUP) {
    const int left = min(4, m - key);
    float4 sum[ROWS];
    for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
#ifdef TRANSPOSED
    const int4 keys = matrix_k * m + min((int4)(key, key + 1, key + 2, key + 3), (int4)(m - 1));
    for (int i = 0; i < depth; i += 4) {
      const float4 k0 = load4_of_row(k, keys.x, i, depth);
      const float4 k1 = load4_of_row(k, keys.y, i, depth);
      const float4 k2 = load4_of_row(k, keys.z, i, depth);
      const float4 k3 = load4_of_row(k, keys.w, i, depth);
      for (int r = 0; r < ROWS; ++r) {
        const float4 from = load4_of_row(q, matrix_q * n + rows[r], i, depth);
        sum[r] += (float4)(dot(from, k0), dot(from, k1), dot(from, k2), dot(from, k3));
      }
    }
#else
    for (int i = 0; i < depth; ++i) {
#ifdef FOURS
      const float4 w = load4_of_row(k, matrix_k * depth + i, key, m);
#else
      const int4 from = (matrix_k * depth + i) * m + min((int4)(key, key + 1, key + 2, key + 3), (int4)(m - 1));
      const float4 w = (float4)(load(k, from.x), load(k, from.y), load(k, from.z), load(k, from.w));
#endif
      for (int r = 0; r < ROWS; ++r) sum[r] += load(q, (matrix_q * n + rows[r]) * depth + i) * w;
    }
#endif
    for (int r = 0; r < ROWS; ++r) {
      const int at = (batch * n + rows[r]) * m + key;
      vstore4(FUSED4(sum[r], at, left), 0, scores + r * KEYS + key);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  for (int r = 0; r < ROWS; ++r) {
    local float *line = scores + r * KEYS;
    float top = -INFINITY;
    for (int i = item; i < m; i += GROUP) top = fmax(top, line[i]);
    top = group_max(top, shared);
    float total = 0.0f;
    for (int i = item; i < m; i += GROUP) {
      line[i] = exp(line[i] - top);
      total += line[i];
    }
    total = group_sum(total, shared);
    if (item == 0) factors[r] = 1.0f / total;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const int fours = width / 4;
  for (int at = item; at < ROWS * fours; at += GROUP) {
    const int r = at / fours;
    const int column = at % fours * 4;
    if (row + r >= n) continue;
    float4 sum = 0.0f;
    for (int i = 0; i < m; ++i) sum += scores[r * KEYS + i] * load4_of_row(v, matrix_v * m + i, column, width);
    store4(y, (batch * n + row + r) * width + column, factors[r] * sum);
  }
}
