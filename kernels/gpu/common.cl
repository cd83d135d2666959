// The beginning of every kernel's source.
//
// Operands. For each operand of a kernel, by name, a launch defines TYPE, the type of its elements in arithmetic, and
// FORM, how memory stores them:
//   array  elements of that type
//   half   float values, rounded to float16; arithmetic is in float32
//   image  float values, four to a texel of a two-dimensional image
// A kernel uses the same macros for all forms, and accesses operands only through them:
//   INPUT(x), OUTPUT(y)                in its parameters
//   TYPE(x), TYPE4(x)                  types of the values that are read
//   load(x, at), store(y, at, value)    element `at`
//   load4(x, at), store4(y, at, value)  four elements from `at` on, which must be a multiple of four in images
//   load4_of_row(x, row, at, length)    the same from element `at` of a row, where rows of `length` follow each other;
//                                       those of an image are its rows
//   store_some(y, at, value, count)     the first `count` of four float values; images store only whole fours
// Kernels in the same file that have other operands are guarded by #ifdef.
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define TYPE(operand) TYPE_##operand
#define TYPE4(operand) JOINED(TYPE_##operand, 4)
#define INPUT(operand) JOINED(input_, FORM_##operand)(TYPE_##operand, operand)
#define OUTPUT(operand) JOINED(output_, FORM_##operand)(TYPE_##operand, operand)
#define load(operand, at) JOINED(load_, FORM_##operand)(operand, at)
#define load4(operand, at) JOINED(load4_, FORM_##operand)(operand, at)
#define load4_of_row(operand, row, at, length) JOINED(load4_of_row_, FORM_##operand)(operand, row, at, length)
#define store(operand, at, value) JOINED(store_, FORM_##operand)(operand, at, value)
#define store4(operand, at, value) JOINED(store4_, FORM_##operand)(operand, at, value)
#define store_some(operand, at, value, count) JOINED(store_some_, FORM_##operand)(operand, at, value, count)

#define input_array(type, operand) global const type *operand
#define output_array(type, operand) global type *operand
#define load_array(operand, at) ((operand)[at])
#define load4_array(operand, at) vload4(0, (operand) + (at))
#define load4_of_row_array(operand, row, at, length) vload4(0, (operand) + (row) * (length) + (at))
#define store_array(operand, at, value) ((operand)[at] = (value))
#define store4_array(operand, at, value) vstore4(value, 0, (operand) + (at))

#define input_half(type, operand) global const half *operand
#define output_half(type, operand) global half *operand
#define load_half(operand, at) vload_half(at, operand)
#define load4_half(operand, at) vload_half4(0, (operand) + (at))
#define load4_of_row_half(operand, row, at, length) vload_half4(0, (operand) + (row) * (length) + (at))
#define store_half(operand, at, value) vstore_half_rte(value, at, operand)
#define store4_half(operand, at, value) vstore_half4_rte(value, 0, (operand) + (at))

// OpenCL C 1.2 reads images without a sampler. No kernel stores single elements in images.
#define input_image(type, operand) read_only image2d_t operand
#define output_image(type, operand) write_only image2d_t operand
#define load_image(operand, at) lane_of(load4_image(operand, at), at)
#define load4_image(operand, at) read_imagef(operand, texel_of(at, get_image_width(operand)))
#define load4_of_row_image(operand, row, at, length) read_imagef(operand, (int2)((at) / 4, row))
#define store4_image(operand, at, value) write_imagef(operand, texel_of(at, get_image_width(operand)), value)
#define store_some_image(operand, at, value, count) store4_image(operand, at, value)

int2 texel_of(int at, int width) { return (int2)(at / 4 % width, at / 4 / width); }

float lane_of(float4 texel, int at) {
  const int lane = at % 4;
  return lane == 0 ? texel.x : lane == 1 ? texel.y : lane == 2 ? texel.z : texel.w;
}

void store_some_array(global float *y, int at, float4 value, int count) {
  y[at] = value.x;
  if (count > 1) y[at + 1] = value.y;
  if (count > 2) y[at + 2] = value.z;
  if (count > 3) y[at + 3] = value.w;
}

void store_some_half(global half *y, int at, float4 value, int count) {
  store_half(y, at, value.x);
  if (count > 1) store_half(y, at + 1, value.y);
  if (count > 2) store_half(y, at + 2, value.z);
  if (count > 3) store_half(y, at + 3, value.w);
}

// Fused activations. Lines that are prepended to this file define ACTIVATION, its number, and its ALPHA, LOW and HIGH.
#ifndef ACTIVATION
#define ACTIVATION 0
#endif
#ifndef ALPHA
#define ALPHA 0.0f
#endif
#ifndef LOW
#define LOW -1.0f
#define HIGH 1.0f
#endif

float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
float softplus(float x) { return fmax(x, 0.0f) + log1p(exp(-fabs(x))); }
float gelu_tanh(float x) { return 0.5f * x * (1.0f + tanh(0.7978845608f * (x + 0.044715f * x * x * x))); }

// Applies activation number `kind`, a compile-time constant. NaN stays NaN.
float activate_as(int kind, float alpha, float low, float high, float x) {
  switch (kind) {
    case 1:
      return x < 0.0f ? 0.0f : x;
    case 2:
      return sigmoid(x);
    case 3:
      return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
    case 4:
      return x < 0.0f ? alpha * expm1(x) : x;
    case 5:
      return x < 0.0f ? alpha * x : x;
    case 6:
      return fabs(x);
    case 7:
      return x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
    case 8:
      return x / (1.0f + fabs(x));
    case 9:
      return softplus(x);
    case 10:
      return tanh(x);
    case 11:
      return 1.0507009873554805f * (x < 0.0f ? 1.6732632423543772f * expm1(x) : x);
    case 12:
      return x * clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
    case 13:
      return clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
    case 14:
      return x > alpha ? x : 0.0f;
    case 16:
      return x < low ? low : x > high ? high : x;
    case 17:
      return sign(x);
    case 18:
      return x * sigmoid(x);
    case 19:
      return 0.5f * x * (1.0f + erf(x * 0.70710678f));
    case 20:
      return gelu_tanh(x);
    default:
      return x;
  }
}

float activate(float x) { return activate_as(ACTIVATION, ALPHA, LOW, HIGH, x); }

float4 activate4(float4 x) {
#if ACTIVATION == 0 || ACTIVATION == 15
  return x;
#else
  return (float4)(activate(x.x), activate(x.y), activate(x.z), activate(x.w));
#endif
}

// Sum over a work group of GROUP items, a power of two. `shared` has one element per item.
#ifdef GROUP
float group_sum(float value, local float *shared) {
  const int item = get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) shared[item] += shared[item + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float total = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return total;
}

float group_max(float value, local float *shared) {
  const int item = get_local_id(0);
  shared[item] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) shared[item] = fmax(shared[item], shared[item + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float top = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return top;
}
#endif

// Nodes that are fused with the kernel: computed for each result before it is stored. Lines that are prepended to this
// file define them if there are any: FUSED(value, at) for element `at`; FUSED4(value, at, count) for the `count`
// elements from there. EPILOGUE follows the last parameter of kernels that support it.
#ifdef EPILOGUE
EPILOGUE_FUNCTIONS
#ifndef FUSED4
#define FUSED4(value, at, count)                                                 \
  (float4)(FUSED((value).x, at), (count) > 1 ? FUSED((value).y, (at) + 1) : 0.0f, \
           (count) > 2 ? FUSED((value).z, (at) + 2) : 0.0f, (count) > 3 ? FUSED((value).w, (at) + 3) : 0.0f)
#endif
#else
#define EPILOGUE
#define FUSED(value, at) (value)
#define FUSED4(value, at, count) (value)
#endif
