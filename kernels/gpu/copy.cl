// A copy between two arrays of TYPE that are walked with strides: `shape` has the sizes, outermost first, then the strides
// of both arrays.
kernel void copy(global const TYPE *from, global TYPE *to, global const int *shape, int rank, int from_base, int to_base,
                 int count) {
  const int item = get_global_id(0);
  if (item >= count) return;
  int rest = item;
  int at_from = from_base;
  int at_to = to_base;
  for (int i = rank - 1; i >= 0; --i) {
    const int size = shape[i];
    const int index = rest % size;
    rest /= size;
    at_from += index * shape[rank + i];
    at_to += index * shape[2 * rank + i];
  }
  to[at_to] = from[at_from];
}

// y[i] = x[map[i]].
kernel void copy_by_map(global const TYPE *x, global TYPE *y, global const int *map, int count) {
  const int at = get_global_id(0);
  if (at < count) y[at] = x[map[at]];
}

kernel void fill(global TYPE *y, TYPE value, int count) {
  const int at = get_global_id(0);
  if (at < count) y[at] = value;
}
