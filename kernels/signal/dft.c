/* Dft: a part transforms some lines; the tables of the transform are computed once, in a first phase. */
#include "signal/dft.h"

#include <string.h>

#include "math/fft.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t length, given, wanted; /* of the transform, of a line of x, of a line of y */
  int64_t inner, lines;          /* elements between two of a line; how many lines there are */
  int64_t lines_per_part;
  int32_t channels_in, channels_out;
  int32_t inverse, onesided;
} dft_derived;

static int32_t dft_support(const mslite_node *node) {
  int64_t length;
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[0]->rank >= 2 && mslite_dft_length(node, &length);
}

static mslite_status dft_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Dft *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  dft_derived *n = derived;
  memset(n, 0, sizeof *n);
  const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
  if (axis < 0 || axis == x->rank - 1 || !mslite_dft_length(node, &n->length)) return MSLITE_ERROR_ATTRIBUTE;
  if (n->length < 1 || n->length > (int64_t)1 << 26) return MSLITE_ERROR_UNSUPPORTED;
  n->given = x->dims[axis];
  n->channels_in = (int32_t)x->dims[x->rank - 1];
  n->inverse = attributes->inverse;
  n->onesided = attributes->onesided;
  n->channels_out = n->inverse && n->onesided ? 1 : 2;
  n->wanted = n->onesided && !n->inverse ? n->length / 2 + 1 : n->length;
  n->inner = n->lines = 1;
  for (int32_t i = axis + 1; i < x->rank - 1; ++i) n->inner *= x->dims[i];
  for (int32_t i = 0; i < axis; ++i) n->lines *= x->dims[i];
  n->lines *= n->inner;
  n->lines_per_part = n->length < PART_ELEMENTS ? PART_ELEMENTS / n->length : 1;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)((n->lines + n->lines_per_part - 1) / n->lines_per_part);
  schedule->shared_bytes = mslite_fft_table_size(n->length) * (int64_t)sizeof(double);
  schedule->scratch_bytes = (2 * n->length + mslite_fft_space_size(n->length)) * (int64_t)sizeof(double);
  return MSLITE_OK;
}

/* One line of x as `length` complex numbers; the inverse transform is the forward one of the conjugate numbers. */
static void read_line(const dft_derived *n, const float *x, int64_t line, double *to) {
  const int64_t first = line / n->inner * n->given * n->inner + line % n->inner;
  memset(to, 0, (size_t)(2 * n->length) * sizeof *to);
  const bool half = n->inverse && n->onesided;
  const int64_t limit = half ? n->length / 2 + 1 : n->length;
  const int64_t count = n->given < limit ? n->given : limit;
  for (int64_t i = 0; i < count; ++i) {
    const float *from = x + (first + i * n->inner) * n->channels_in;
    const double imaginary = n->channels_in == 2 ? (double)from[1] : 0.0;
    to[2 * i] = (double)from[0];
    to[2 * i + 1] = n->inverse ? -imaginary : imaginary;
  }
  if (!half) return;
  to[1] = 0.0; /* of a real signal these two are real, and the other half is conjugate */
  if (n->length % 2 == 0) to[n->length + 1] = 0.0;
  for (int64_t i = 1; 2 * i < n->length; ++i) {
    to[2 * (n->length - i)] = to[2 * i];
    to[2 * (n->length - i) + 1] = -to[2 * i + 1];
  }
}

static void dft_run(const mslite_run *run, int32_t phase, int32_t part) {
  const dft_derived *n = run->derived;
  if (phase == 0) {
    mslite_fft_make_tables(n->length, run->shared);
    return;
  }
  double *numbers = run->scratch;
  const int64_t begin = part * n->lines_per_part;
  const int64_t end = begin + n->lines_per_part < n->lines ? begin + n->lines_per_part : n->lines;
  const double real_scale = n->inverse ? 1.0 / (double)n->length : 1.0;
  const double imaginary_scale = n->inverse ? -real_scale : 1.0;
  for (int64_t line = begin; line < end; ++line) {
    read_line(n, run->inputs[0], line, numbers);
    mslite_fft_forward(n->length, run->shared, numbers, numbers + 2 * n->length);
    float *y = run->outputs[0];
    y += (line / n->inner * n->wanted * n->inner + line % n->inner) * n->channels_out;
    for (int64_t i = 0; i < n->wanted; ++i) {
      float *to = y + i * n->inner * n->channels_out;
      to[0] = (float)(numbers[2 * i] * real_scale);
      if (n->channels_out == 2) to[1] = (float)(numbers[2 * i + 1] * imaginary_scale);
    }
  }
}

const mslite_kernel mslite_kernel_dft = {
    .name = "dft_scalar",
    .op = MSLITE_OP_Dft,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(dft_derived),
    .support = dft_support,
    .prepare = dft_prepare,
    .run = dft_run,
};
