// y[outer, i, inner] = x[outer, indices[i], inner]; negative indices count from the end. `fault` becomes 1 where an index is
// outside.
kernel void gather(global const TYPE *x, global const INDEX *indices, global TYPE *y, global int *fault, int length,
                   int inner, int index_count, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int in = at % inner;
  const int place = at / inner % index_count;
  const int outer = at / inner / index_count;
  INDEX index = indices[place];
  if (index < 0) index += length;
  if (index < 0 || index >= length) {
    *fault = 1;
    index = 0;
  }
  y[at] = x[(outer * length + (int)index) * inner + in];
}
