// y = VALUE, an element-wise expression of up to three operands a, b and c.
//
// WALK_A, WALK_B, WALK_C: 0 if the operand has the output's elements in order, 1 if it has one element, 2 if it
// broadcasts: then `shape` has the output's dimensions, followed by the strides of each operand along them.
#ifndef WALK_B
#define WALK_B 1
#endif
#ifndef WALK_C
#define WALK_C 1
#endif

#ifndef FOURS
kernel void elementwise(INPUT(x_a),
#ifdef TYPE_x_b
                        INPUT(x_b),
#endif
#ifdef TYPE_x_c
                        INPUT(x_c),
#endif
                        OUTPUT(y), global const int *shape, int rank, int count EPILOGUE) {
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
  const TYPE(x_a) a = load(x_a, at_a);
#ifdef TYPE_x_b
  const TYPE(x_b) b = load(x_b, at_b);
#endif
#ifdef TYPE_x_c
  const TYPE(x_c) c = load(x_c, at_c);
#endif
  store(y, at, FUSED(VALUE, at));
}

#else
// The same for float operands that have the output's elements in order, have one element, or repeat in order, in which
// case WALK is 3 and the period is their number of elements. Four elements at a time; `count` is in fours.
#define READ(operand, walk, period) \
  ((walk) == 1 ? (float4)(load(operand, 0)) : load4(operand, (walk) == 0 ? 4 * at : 4 * at % (period)))
float one(float a, float b, float c) { return VALUE; }

kernel void elementwise_fours(INPUT(x_a),
#ifdef TYPE_x_b
                              INPUT(x_b),
#endif
#ifdef TYPE_x_c
                              INPUT(x_c),
#endif
                              OUTPUT(y), int period_a, int period_b, int period_c, int count EPILOGUE) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const float4 a = READ(x_a, WALK_A, period_a);
#ifdef TYPE_x_b
  const float4 b = READ(x_b, WALK_B, period_b);
#else
  const float4 b = 0.0f;
#endif
#ifdef TYPE_x_c
  const float4 c = READ(x_c, WALK_C, period_c);
#else
  const float4 c = 0.0f;
#endif
  const float4 value = (float4)(one(a.x, b.x, c.x), one(a.y, b.y, c.y), one(a.z, b.z, c.z), one(a.w, b.w, c.w));
  store4(y, 4 * at, FUSED4(value, 4 * at, 4));
}
#endif
