// y = VALUE, an expression of up to three operands a, b and c, element by element.
//
// TYPE_A, TYPE_B, TYPE_C, TYPE_Y: what memory holds. WALK_A, WALK_B, WALK_C: 0 where an operand has the output's elements in
// their order, 1 where it has one element, 2 where it broadcasts: then `shape` has the output's dimensions, and behind them
// the strides of each operand along these.
#ifndef WALK_B
#define WALK_B 1
#endif
#ifndef WALK_C
#define WALK_C 1
#endif

kernel void elementwise(global const TYPE_A *x_a,
#ifdef TYPE_B
                        global const TYPE_B *x_b,
#endif
#ifdef TYPE_C
                        global const TYPE_C *x_c,
#endif
                        global TYPE_Y *y, global const int *shape, int rank, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  int at_a = WALK_A == 0 ? at : 0;
  int at_b = WALK_B == 0 ? at : 0;
  int at_c = WALK_C == 0 ? at : 0;
#if WALK_A == 2 || WALK_B == 2 || WALK_C == 2
  int rest = at;
  for (int i = rank - 1; i >= 0; --i) {
    const int size = shape[i];
    const int index = rest % size;
    rest /= size;
#if WALK_A == 2
    at_a += index * shape[rank + i];
#endif
#if WALK_B == 2
    at_b += index * shape[2 * rank + i];
#endif
#if WALK_C == 2
    at_c += index * shape[3 * rank + i];
#endif
  }
#endif
  const TYPE_A a = x_a[at_a];
#ifdef TYPE_B
  const TYPE_B b = x_b[at_b];
#endif
#ifdef TYPE_C
  const TYPE_C c = x_c[at_c];
#endif
  y[at] = VALUE;
}

// The same for float32 operands that are walked in order, or have one element: four elements at a time. `count` counts
// these fours.
#ifdef FOURS
#define READ(x, walk) ((walk) == 0 ? vload4(at, x) : (float4)(x[0]))
float one(float a, float b, float c) { return VALUE; }

kernel void elementwise_fours(global const float *x_a,
#ifdef TYPE_B
                              global const float *x_b,
#endif
#ifdef TYPE_C
                              global const float *x_c,
#endif
                              global float *y, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const float4 a = READ(x_a, WALK_A);
#ifdef TYPE_B
  const float4 b = READ(x_b, WALK_B);
#else
  const float4 b = 0.0f;
#endif
#ifdef TYPE_C
  const float4 c = READ(x_c, WALK_C);
#else
  const float4 c = 0.0f;
#endif
  const float4 value = (float4)(one(a.x, b.x, c.x), one(a.y, b.y, c.y), one(a.z, b.z, c.z), one(a.w, b.w, c.w));
  vstore4(value, at, y);
}
#endif
