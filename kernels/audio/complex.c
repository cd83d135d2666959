/* FftReal, FftImag and ComplexAbs: one float per complex64 element. */
#include <math.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int32_t op;
} complex_derived;

static int32_t support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_COMPLEX64 && node->outputs[0]->type == MSLITE_FLOAT32;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  complex_derived *numbers = derived;
  numbers->count = mslite_element_count(node->inputs[0]);
  numbers->op = node->op;
  const int64_t parts = (numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)parts;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const complex_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  const float *x = run->inputs[0];
  float *y = run->outputs[0];
  for (int64_t i = begin; i < end; ++i) {
    const double real = x[2 * i], imaginary = x[2 * i + 1];
    /* In double, squares of floats neither overflow nor underflow to zero. */
    y[i] = numbers->op == MSLITE_OP_FftReal   ? x[2 * i]
           : numbers->op == MSLITE_OP_FftImag ? x[2 * i + 1]
                                              : (float)sqrt(real * real + imaginary * imaginary);
  }
}

#define COMPLEX_PART(function, operator)           \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(complex_derived),     \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
  };

COMPLEX_PART(fft_real, FftReal)
COMPLEX_PART(fft_imag, FftImag)
COMPLEX_PART(complex_abs, ComplexAbs)
