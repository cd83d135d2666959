// y[outer, inner] = the elements of x that fold into it, by COMBINE(total, value), from START on, then FINISH(total).
//
// `shape` has the kept dimensions, their strides, the dimensions of the runs, their strides: a run is `length` elements,
// `length_stride` apart. Dimensions stand last first. A group of GROUP items, a power of two, makes one element.
int walk(int at, global const int *sizes, global const int *strides, int rank) {
  int offset = 0;
  for (int i = 0; i < rank; ++i) {
    offset += at % sizes[i] * strides[i];
    at /= sizes[i];
  }
  return offset;
}

#ifdef COMBINE
kernel void reduce(INPUT(x), OUTPUT(y), global const int *shape, int kept_rank, int run_rank, int inner, int length,
                   int length_stride, int reduced) {
  local TYPE(x) shared[GROUP];
  const int item = get_local_id(0);
  const int at = get_group_id(0);
  const int base = walk(at / inner, shape, shape + kept_rank, kept_rank) + at % inner;
  global const int *runs = shape + 2 * kept_rank;
  TYPE(x) total = START;
  for (int i = item; i < reduced; i += GROUP) {
    const TYPE(x) value =
        load(x, base + walk(i / length, runs, runs + run_rank, run_rank) + i % length * length_stride);
    total = COMBINE(total, TERM(value));
  }
  shared[item] = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) shared[item] = COMBINE(shared[item], shared[item + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) store(y, at, FINISH(shared[0]));
}
#endif

// Which element along the axis comes first in order: x is [outer, length, inner]. BEFORE(a, b): a comes before b.
#ifdef BEFORE
kernel void arg(INPUT(x), OUTPUT(y), int length, int inner, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int row = at / inner * length * inner + at % inner;
  int best = 0;
  for (int i = 1; i < length; ++i) {
    if (BEFORE(load(x, row + i * inner), load(x, row + best * inner))) best = i;
  }
  store(y, at, best);
}
#endif
