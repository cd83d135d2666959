/* Rfft and Rfft2D: complex64 spectra of real rows (images), without the redundant conjugate half. Longer inputs are
 * truncated, shorter ones are padded with zeros. */
#include <string.h>

#include "kernel.h"
#include "math/fft.h"

enum { TABLE_PHASE, ROW_PHASE, COLUMN_PHASE };

typedef struct {
  int64_t images, height, width; /* of the transform; height 1: one-dimensional */
  int64_t x_height, x_width;
  int64_t bins;                                  /* width / 2 + 1 */
  int64_t row_table, column_table, half_spectra; /* offsets in the shared workspace, in doubles */
} fourier_derived;

static int32_t support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_FLOAT32; }

static mslite_status prepare_sizes(const mslite_node *node, int64_t height, int64_t width, fourier_derived *numbers,
                                   mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const int32_t used = height == 0 ? 1 : 2;
  if (x->rank < used || width < 1 || width > INT32_MAX || height > INT32_MAX) return MSLITE_ERROR_ATTRIBUTE;
  numbers->height = height == 0 ? 1 : height;
  numbers->width = width;
  numbers->x_width = x->dims[x->rank - 1];
  numbers->x_height = height == 0 ? 1 : x->dims[x->rank - 2];
  numbers->images = 1;
  for (int32_t i = 0; i < x->rank - used; ++i) numbers->images *= x->dims[i];
  numbers->bins = width / 2 + 1;
  numbers->row_table = 0;
  numbers->column_table = mslite_fft_table_size(width);
  numbers->half_spectra = numbers->column_table + (height == 0 ? 0 : mslite_fft_table_size(height));
  const int64_t doubles = numbers->half_spectra + (height == 0 ? 0 : 2 * numbers->images * height * numbers->bins);
  const int64_t row = 2 * width + mslite_fft_space_size(width);
  const int64_t column = height == 0 ? 0 : 2 * height + mslite_fft_space_size(height);
  const int64_t rows = numbers->images * numbers->height, columns = numbers->images * numbers->bins;
  if (rows > INT32_MAX || columns > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->shared_bytes = doubles * (int64_t)sizeof(double);
  schedule->scratch_bytes = (row > column ? row : column) * (int64_t)sizeof(double);
  schedule->phase_count = height == 0 ? 2 : 3;
  schedule->part_count[TABLE_PHASE] = 1;
  schedule->part_count[ROW_PHASE] = (int32_t)rows;
  schedule->part_count[COLUMN_PHASE] = (int32_t)columns;
  return MSLITE_OK;
}

static mslite_status prepare_rows(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare_sizes(node, 0, ((const mslite_Rfft *)node->params)->fft_length, derived, schedule);
}

static mslite_status prepare_images(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Rfft2D *attributes = node->params;
  if (attributes->fft_height < 1) return MSLITE_ERROR_ATTRIBUTE;
  return prepare_sizes(node, attributes->fft_height, attributes->fft_width, derived, schedule);
}

static void transform_row(const fourier_derived *numbers, const mslite_run *run, int64_t part, bool is_last) {
  const int64_t image = part / numbers->height, row = part % numbers->height;
  double *data = run->scratch;
  memset(data, 0, (size_t)(2 * numbers->width) * sizeof *data);
  if (row < numbers->x_height) {
    const float *x = (const float *)run->inputs[0] + (image * numbers->x_height + row) * numbers->x_width;
    const int64_t count = numbers->width < numbers->x_width ? numbers->width : numbers->x_width;
    for (int64_t i = 0; i < count; ++i) data[2 * i] = x[i];
  }
  const double *tables = (const double *)run->shared + numbers->row_table;
  mslite_fft_forward(numbers->width, tables, data, data + 2 * numbers->width);
  if (is_last) {
    float *y = (float *)run->outputs[0] + part * 2 * numbers->bins;
    for (int64_t i = 0; i < 2 * numbers->bins; ++i) y[i] = (float)data[i];
  } else {
    double *y = (double *)run->shared + numbers->half_spectra + part * 2 * numbers->bins;
    memcpy(y, data, (size_t)(2 * numbers->bins) * sizeof *y);
  }
}

static void transform_column(const fourier_derived *numbers, const mslite_run *run, int64_t part) {
  const int64_t image = part / numbers->bins, bin = part % numbers->bins;
  const int64_t first = image * numbers->height * numbers->bins + bin;
  const double *from = (const double *)run->shared + numbers->half_spectra;
  double *data = run->scratch;
  for (int64_t i = 0; i < numbers->height; ++i) {
    const int64_t at = 2 * (first + i * numbers->bins);
    data[2 * i] = from[at];
    data[2 * i + 1] = from[at + 1];
  }
  const double *tables = (const double *)run->shared + numbers->column_table;
  mslite_fft_forward(numbers->height, tables, data, data + 2 * numbers->height);
  float *y = run->outputs[0];
  for (int64_t i = 0; i < numbers->height; ++i) {
    const int64_t at = 2 * (first + i * numbers->bins);
    y[at] = (float)data[2 * i];
    y[at + 1] = (float)data[2 * i + 1];
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part, bool rows_only) {
  const fourier_derived *numbers = run->derived;
  if (phase == ROW_PHASE) {
    transform_row(numbers, run, part, rows_only);
  } else if (phase == COLUMN_PHASE) {
    transform_column(numbers, run, part);
  } else {
    mslite_fft_make_tables(numbers->width, (double *)run->shared + numbers->row_table);
    if (!rows_only) mslite_fft_make_tables(numbers->height, (double *)run->shared + numbers->column_table);
  }
}

static void run_rows(const mslite_run *run, int32_t phase, int32_t part) { run_part(run, phase, part, true); }
static void run_images(const mslite_run *run, int32_t phase, int32_t part) { run_part(run, phase, part, false); }

const mslite_kernel mslite_kernel_rfft = {
    .name = "rfft_scalar",
    .op = MSLITE_OP_Rfft,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(fourier_derived),
    .support = support,
    .prepare = prepare_rows,
    .run = run_rows,
};

const mslite_kernel mslite_kernel_rfft2d = {
    .name = "rfft2d_scalar",
    .op = MSLITE_OP_Rfft2D,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(fourier_derived),
    .support = support,
    .prepare = prepare_images,
    .run = run_images,
};
