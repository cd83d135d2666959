// What stands in front of every kernel.
//
// Operands. A launch says of each one, by its name in the kernel, the TYPE that its elements have in arithmetic, and
// the FORM that memory has them in:
//   array  elements of that type
//   half   real numbers, rounded to float16; arithmetic is in float32
//   image  real numbers, four to a texel of a two-dimensional image
// A kernel reads the same for all of them, and never touches an operand otherwise:
//   INPUT(x), OUTPUT(y)            in its list of parameters
//   TYPE(x), TYPE4(x)              of what is read
//   load(x, at), store(y, at, value)    element number `at`
//   load4(x, at), store4(y, at, value)  four elements from number `at` on, which is a multiple of four in images
//   load4_of_row(x, row, at, length)    the same from element `at` of a row, where rows of `length` follow each other;
//                                       those of an image are its rows
//   store_some(y, at, value, count)     the first `count` of four real numbers; images take whole fours alone
// Kernels of one file that have other operands stand behind an #ifdef.
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

// OpenCL C 1.2 reads images without a sampler. No kernel stores single elements there.
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

// Fused activations. The lines before this file define ACTIVATION, its number, and its ALPHA, LOW and HIGH.
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

// NaN stays NaN.
float activate(float x) {
#if ACTIVATION == 1
  return x < 0.0f ? 0.0f : x;
#elif ACTIVATION == 2
  return sigmoid(x);
#elif ACTIVATION == 3
  return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
#elif ACTIVATION == 4
  return x < 0.0f ? ALPHA * expm1(x) : x;
#elif ACTIVATION == 5
  return x < 0.0f ? ALPHA * x : x;
#elif ACTIVATION == 6
  return fabs(x);
#elif ACTIVATION == 7
  return x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
#elif ACTIVATION == 8
  return x / (1.0f + fabs(x));
#elif ACTIVATION == 9
  return softplus(x);
#elif ACTIVATION == 10
  return tanh(x);
#elif ACTIVATION == 11
  return 1.0507009873554805f * (x < 0.0f ? 1.6732632423543772f * expm1(x) : x);
#elif ACTIVATION == 12
  return x * clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
#elif ACTIVATION == 13
  return clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f;
#elif ACTIVATION == 14
  return x > ALPHA ? x : 0.0f;
#elif ACTIVATION == 16
  return x < LOW ? LOW : x > HIGH ? HIGH : x;
#elif ACTIVATION == 17
  return sign(x);
#elif ACTIVATION == 18
  return x * sigmoid(x);
#elif ACTIVATION == 19
  return 0.5f * x * (1.0f + erf(x * 0.70710678f));
#elif ACTIVATION == 20
  return gelu_tanh(x);
#else
  return x;
#endif
}

float4 activate4(float4 x) {
#if ACTIVATION == 0 || ACTIVATION == 15
  return x;
#else
  return (float4)(activate(x.x), activate(x.y), activate(x.z), activate(x.w));
#endif
}
