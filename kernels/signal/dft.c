/* Dft. Each part transforms some lines; a first phase computes the tables of the transform. An axis that is not
 * constant is read at run time; then everything is one part. */
#include "signal/dft.h"

#include <string.h>

#include "math/fft.h"
#include "movement.h"

enum { PART_ELEMENTS = 16384 };

/* The transform along one axis. */
typedef struct {
  int64_t length, given, wanted; /* of the transform, of a line of x, of a line of y */
  int64_t inner, lines;          /* elements between adjacent elements of a line; number of lines */
} dft_lines;

typedef struct {
  dft_lines lines;
  int64_t lines_per_part;
  int64_t length; /* from the operand, or 0 */
  int64_t table;  /* doubles of the tables */
  int64_t count;  /* elements of y */
  int64_t dims[MSLITE_MAX_RANK];
  int32_t rank, axis_type;
  int32_t channels_in, channels_out;
  bool inverse, onesided, computed;
} dft_derived;

static const int64_t MAXIMUM_LENGTH = (int64_t)1 << 26;

static bool is_integer(int32_t type) { return type == MSLITE_INT32 || type == MSLITE_INT64; }

static int32_t dft_support(const mslite_node *node) {
  int32_t axis = 0;
  int64_t length;
  const mslite_tensor *x = node->inputs[0];
  if (x->type != MSLITE_FLOAT32 || x->rank < 2) return 0;
  if (!mslite_dft_given_length(node->inputs, node->input_count, &length)) return 0;
  return mslite_dft_axis(node->params, node->inputs, node->input_count, &axis) || is_integer(node->inputs[2]->type);
}

static dft_lines lines_along(const dft_derived *n, int32_t axis) {
  const mslite_Dft attributes = {.inverse = n->inverse, .onesided = n->onesided};
  dft_lines lines = {.given = n->dims[axis], .inner = 1, .lines = 1};
  lines.length = mslite_dft_length(&attributes, n->length, lines.given);
  lines.wanted = mslite_dft_size(&attributes, lines.length);
  for (int32_t i = axis + 1; i < n->rank - 1; ++i) lines.inner *= n->dims[i];
  for (int32_t i = 0; i < axis; ++i) lines.lines *= n->dims[i];
  lines.lines *= lines.inner;
  return lines;
}

static mslite_status dft_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Dft *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  dft_derived *n = derived;
  int32_t axis = 0;
  memset(n, 0, sizeof *n);
  n->computed = !mslite_dft_axis(attributes, node->inputs, node->input_count, &axis);
  if (!n->computed && axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  if (!mslite_dft_given_length(node->inputs, node->input_count, &n->length)) return MSLITE_ERROR_UNSUPPORTED;
  n->rank = x->rank;
  n->count = mslite_element_count(node->outputs[0]);
  memcpy(n->dims, x->dims, sizeof n->dims);
  n->inverse = attributes->inverse;
  n->onesided = attributes->onesided;
  n->channels_in = (int32_t)x->dims[x->rank - 1];
  n->channels_out = n->inverse && n->onesided ? 1 : 2;
  n->axis_type = n->computed ? node->inputs[2]->type : 0;
  int64_t space = 0;
  for (int32_t i = n->computed ? 0 : axis; i < (n->computed ? n->rank - 1 : axis + 1); ++i) {
    n->lines = lines_along(n, i);
    const int64_t length = n->lines.length;
    if (length < 1 || length > MAXIMUM_LENGTH) {
      if (n->computed) continue; /* another axis may be selected at run time */
      return MSLITE_ERROR_UNSUPPORTED;
    }
    const int64_t table = mslite_fft_table_size(length), own = 2 * length + mslite_fft_space_size(length);
    n->table = table > n->table ? table : n->table;
    space = own > space ? own : space;
  }
  n->lines_per_part = n->computed ? INT64_MAX / 2 : PART_ELEMENTS / (n->lines.length + 1) + 1;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = n->computed ? 1 : (int32_t)((n->lines.lines + n->lines_per_part - 1) / n->lines_per_part);
  schedule->shared_bytes = n->table * (int64_t)sizeof(double);
  schedule->scratch_bytes = space * (int64_t)sizeof(double);
  return MSLITE_OK;
}

/* Finds the transform for the current axis. Returns false if the axis is invalid. */
static bool current_lines(const mslite_run *run, dft_lines *lines) {
  const dft_derived *n = run->derived;
  *lines = n->lines;
  if (!n->computed) return true;
  const int32_t axis = mslite_normalize_axis(mslite_integer_at(run->inputs[2], n->axis_type, 0), n->rank);
  if (axis < 0 || axis == n->rank - 1) return false;
  *lines = lines_along(n, axis);
  const bool possible = lines->length >= 1 && lines->length <= MAXIMUM_LENGTH;
  /* The output shape was inferred for this axis. */
  return possible && lines->lines * lines->wanted * n->channels_out == n->count;
}

/* Reads one line of x as `length` complex numbers; the inverse transform is the forward transform of the conjugates. */
static void read_line(const dft_derived *n, const dft_lines *lines, const float *x, int64_t line, double *to) {
  const int64_t first = line / lines->inner * lines->given * lines->inner + line % lines->inner;
  const int64_t length = lines->length;
  memset(to, 0, (size_t)(2 * length) * sizeof *to);
  const bool half = n->inverse && n->onesided;
  const int64_t limit = half ? length / 2 + 1 : length;
  const int64_t count = lines->given < limit ? lines->given : limit;
  for (int64_t i = 0; i < count; ++i) {
    const float *from = x + (first + i * lines->inner) * n->channels_in;
    const double imaginary = n->channels_in == 2 ? (double)from[1] : 0.0;
    to[2 * i] = (double)from[0];
    to[2 * i + 1] = n->inverse ? -imaginary : imaginary;
  }
  if (!half) return;
  to[1] = 0.0; /* for a real signal these two are real, and the other half is the conjugate */
  if (length % 2 == 0) to[length + 1] = 0.0;
  for (int64_t i = 1; 2 * i < length; ++i) {
    to[2 * (length - i)] = to[2 * i];
    to[2 * (length - i) + 1] = -to[2 * i + 1];
  }
}

static void dft_run(const mslite_run *run, int32_t phase, int32_t part) {
  const dft_derived *n = run->derived;
  dft_lines lines;
  if (!current_lines(run, &lines)) {
    mslite_report_value(run, 2, 0, mslite_integer_at(run->inputs[2], n->axis_type, 0), -n->rank, n->rank - 1);
    return;
  }
  if (phase == 0) {
    mslite_fft_make_tables(lines.length, run->shared);
    return;
  }
  double *numbers = run->scratch;
  const int64_t begin = part * n->lines_per_part;
  const int64_t end = begin + n->lines_per_part < lines.lines ? begin + n->lines_per_part : lines.lines;
  const double real_scale = n->inverse ? 1.0 / (double)lines.length : 1.0;
  const double imaginary_scale = n->inverse ? -real_scale : 1.0;
  for (int64_t line = begin; line < end; ++line) {
    read_line(n, &lines, run->inputs[0], line, numbers);
    mslite_fft_forward(lines.length, run->shared, numbers, numbers + 2 * lines.length);
    float *y = run->outputs[0];
    y += (line / lines.inner * lines.wanted * lines.inner + line % lines.inner) * n->channels_out;
    for (int64_t i = 0; i < lines.wanted; ++i) {
      float *to = y + i * lines.inner * n->channels_out;
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
