// A copy between two arrays that are walked with strides: `shape` has the sizes, outermost first, then the strides of
// both arrays. UNIT elements, 4 or 1, move as one; sizes and strides count these.
#if UNIT == 4
#define LOAD load4
#define STORE store4
#else
#define LOAD load
#define STORE store
#endif

#ifdef UNIT
kernel void copy(INPUT(x), OUTPUT(y), global const int *shape, int rank, int from_base, int to_base, int count) {
  const int item = get_global_id(0);
  if (item >= count) return;
  int rest = item;
  int from = from_base;
  int to = to_base;
  for (int i = rank - 1; i >= 0; --i) {
    const int size = shape[i];
    const int index = rest % size;
    rest /= size;
    from += index * shape[rank + i];
    to += index * shape[2 * rank + i];
  }
  STORE(y, UNIT * to, LOAD(x, UNIT * from));
}

// y[i] = x[map[i]].
#elif defined(MAP)
kernel void copy_by_map(INPUT(x), OUTPUT(y), global const int *map, int count) {
  const int at = get_global_id(0);
  if (at < count) store(y, at, load(x, map[at]));
}

#else
kernel void fill(OUTPUT(y), TYPE(y) value, int count) {
  const int at = get_global_id(0);
  if (at < count) store(y, at, value);
}
#endif
