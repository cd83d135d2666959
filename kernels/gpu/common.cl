// What stands in front of every kernel. The lines before it define what a launch is for: ACTIVATION (the number of the
// fused activation) and its ALPHA, LOW and HIGH, and what the kernel's own file names.
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

// The first `count` of four numbers.
void store_some(float4 value, int count, global float *at) {
  at[0] = value.x;
  if (count > 1) at[1] = value.y;
  if (count > 2) at[2] = value.z;
  if (count > 3) at[3] = value.w;
}
