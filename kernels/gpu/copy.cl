// Copies between two arrays with strides: `shape` has the sizes, outermost first, then the strides of both arrays. UNIT
// elements, 4 or 1, are copied together; sizes and strides are in UNITs.
#if UNIT == 4
#define LOAD load4
#define STORE store4
#define FUSED_ALL(value, at) FUSED4(value, at, 4)
#else
#define LOAD load
#define STORE store
#define FUSED_ALL FUSED
#endif

#ifdef COPY
kernel void copy(INPUT(x), OUTPUT(y), global const int *shape, int rank, int from_base, int to_base, int count EPILOGUE) {
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
  STORE(y, UNIT * to, FUSED_ALL(LOAD(x, UNIT * from), UNIT * to));
}

// y[i] = x[map[i]], or 0 if map[i] is negative.
#elif defined(MAP)
kernel void copy_by_map(INPUT(x), OUTPUT(y), global const int *map, int count) {
  const int at = get_global_id(0);
  if (at < count) store(y, at, map[at] < 0 ? (TYPE(x))0 : load(x, map[at]));
}

#elif defined(FILL)
kernel void fill(OUTPUT(y), TYPE(y) value, int count) {
  const int at = get_global_id(0);
  if (at < count) store(y, at, value);
}

// Concatenates tensors along a dimension, or splits one: PIECES of them, 2 to 32. `begins` has the offset of each piece
// in a row of the whole, and the end of the last one; rows of the whole have length `row`. All are in UNITs.
#elif defined(PIECES)
#define EACH_OF_2(what) what(0) what(1)
#define EACH_OF_4(what) EACH_OF_2(what) what(2) what(3)
#define EACH_OF_8(what) EACH_OF_4(what) what(4) what(5) what(6) what(7)
#define EACH_OF_16(what) \
  EACH_OF_8(what) what(8) what(9) what(10) what(11) what(12) what(13) what(14) what(15)
#define EACH_OF_32(what)                                                                                  \
  EACH_OF_16(what) what(16) what(17) what(18) what(19) what(20) what(21) what(22) what(23) what(24) what(25) \
      what(26) what(27) what(28) what(29) what(30) what(31)
#define EACH(what) JOINED(EACH_OF_, PIECES)(what)
#define AT_PIECE(i) (UNIT * (outer * (begins[(i) + 1] - begins[i]) + column - begins[i]))

#ifdef TYPE_y
#define PIECE(i) INPUT(x##i),
#define COPY_PIECE(i)                                                     \
  if (column < begins[(i) + 1]) {                                           \
    STORE(y, at, FUSED_ALL(LOAD(x##i, AT_PIECE(i)), at)); \
    return;                                                               \
  }
kernel void join(EACH(PIECE) OUTPUT(y), global const int *begins, int row, int count EPILOGUE) {
#else
#define PIECE(i) OUTPUT(y##i),
#define COPY_PIECE(i)                               \
  if (column < begins[(i) + 1]) {                     \
    STORE(y##i, AT_PIECE(i), LOAD(x, at)); \
    return;                                         \
  }
kernel void cut(INPUT(x), EACH(PIECE) global const int *begins, int row, int count) {
#endif
  const int item = get_global_id(0);
  if (item >= count) return;
  const int columns = begins[PIECES] - begins[0];
  const int column = begins[0] + item % columns;
  const int outer = item / columns;
  const int at = UNIT * (outer * row + column);
  EACH(COPY_PIECE)
}
#endif
