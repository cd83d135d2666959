// y[outer, i, inner] = x[outer, indices[i], inner]; negative indices count from the end. Sets `fault` to 1 if an index
// is out of range.
kernel void gather(INPUT(x), INPUT(indices), OUTPUT(y), global int *fault, int length, int inner, int index_count,
                   int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int in = at % inner;
  const int place = at / inner % index_count;
  const int outer = at / inner / index_count;
  TYPE(indices) index = load(indices, place);
  if (index < 0) index += length;
  if (index < 0 || index >= length) {
    *fault = 1;
    index = 0;
  }
  store(y, at, load(x, (outer * length + (int)index) * inner + in));
}
