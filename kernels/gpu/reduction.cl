// y[outer, inner] = the elements of x that are reduced to it, by COMBINE(total, value), starting with START, then
// FINISH(total).
//
// `shape` has the kept dimensions, their strides, the reduced dimensions, their strides; a run is `length` elements,
// `length_stride` apart. Dimensions are in reverse order. A work group of GROUP items, a power of two, computes one
// element.
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

// ArgMin and ArgMax: x is [outer, length, inner]. BEFORE(a, b): a is ordered before b.
#ifdef ARG
kernel void arg(INPUT(x), OUTPUT(y), int length, int inner, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int row = at / inner * length * inner + at % inner;
  int best = 0;
  for (int i = 1; i < length; ++i) {
    const TYPE(x) other = load(x, row + i * inner), found = load(x, row + best * inner);
    if (other != other ? found == found : BEFORE(other, found)) best = i; /* the first NaN before any number */
  }
  store(y, at, best);
}
#endif

// The first `k` elements in order along the axis, and their indices if TYPE_indices is defined. Each item counts how
// many elements are ordered before its own; of equal ones the earlier. NaN is larger than any number.
#ifdef TOP_K
kernel void top_k(INPUT(x), OUTPUT(y),
#ifdef TYPE_indices
                  OUTPUT(indices),
#endif
                  int length, int inner, int k, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int in = at % inner;
  const int index = at / inner % length;
  const int outer = at / inner / length;
  const TYPE(x) own = load(x, at);
  const bool is_number = own == own;
  int place = 0;
  for (int i = 0; i < length; ++i) {
    const TYPE(x) other = load(x, (outer * length + i) * inner + in);
    const bool is_equal = other == own || (other != other && !is_number);
    const bool is_before = other != other ? is_number && NAN_FIRST : is_number ? BEFORE(other, own) : !NAN_FIRST;
    if (is_before || (is_equal && i < index)) ++place;
  }
  if (place >= k) return;
  store(y, (outer * k + place) * inner + in, own);
#ifdef TYPE_indices
  store(indices, (outer * k + place) * inner + in, index);
#endif
}
#endif
