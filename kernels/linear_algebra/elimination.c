/* Determinant and MatrixInverse: Gaussian elimination with partial pivoting in double precision. A part is some
 * matrices. */
#include <math.h>
#include <string.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t size, matrices, per_part;
} matrix_derived;

static int32_t matrix_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  return x->type == MSLITE_FLOAT32 && x->rank >= 2 && x->dims[x->rank - 1] == x->dims[x->rank - 2];
}

static mslite_status matrix_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  matrix_derived *n = derived;
  n->size = x->dims[x->rank - 1];
  if (n->size > 1 << 14) return MSLITE_ERROR_UNSUPPORTED;
  n->matrices = 1;
  for (int32_t i = 0; i < x->rank - 2; ++i) n->matrices *= x->dims[i];
  const int64_t elements = n->size * n->size;
  n->per_part = elements < PART_ELEMENTS ? PART_ELEMENTS / (elements + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((n->matrices + n->per_part - 1) / n->per_part);
  schedule->scratch_bytes = 2 * elements * (int64_t)sizeof(double);
  return MSLITE_OK;
}

/* Returns the row at or below `column` with the largest magnitude there. */
static int64_t pivot_row(const double *a, int64_t size, int64_t column) {
  int64_t best = column;
  for (int64_t row = column + 1; row < size; ++row) {
    if (fabs(a[row * size + column]) > fabs(a[best * size + column])) best = row;
  }
  return best;
}

static void swap_rows(double *a, int64_t size, int64_t first, int64_t second) {
  for (int64_t i = 0; first != second && i < size; ++i) {
    const double value = a[first * size + i];
    a[first * size + i] = a[second * size + i];
    a[second * size + i] = value;
  }
}

/* row -= factor * source, for elements from `begin` on. */
static void subtract_row(double *a, int64_t size, int64_t row, int64_t source, double factor, int64_t begin) {
  for (int64_t i = begin; i < size; ++i) a[row * size + i] -= factor * a[source * size + i];
}

static double determinant_of(double *a, int64_t size) {
  double result = 1.0;
  for (int64_t column = 0; column < size; ++column) {
    const int64_t pivot = pivot_row(a, size, column);
    if (a[pivot * size + column] == 0.0) return 0.0;
    if (pivot != column) result = -result;
    swap_rows(a, size, pivot, column);
    result *= a[column * size + column];
    for (int64_t row = column + 1; row < size; ++row) {
      subtract_row(a, size, row, column, a[row * size + column] / a[column * size + column], column);
    }
  }
  return result;
}

/* Sets b to the inverse of a, which is overwritten. A singular matrix gives infinities or NaN. */
static void invert(double *a, double *b, int64_t size) {
  for (int64_t i = 0; i < size * size; ++i) b[i] = i / size == i % size ? 1.0 : 0.0;
  for (int64_t column = 0; column < size; ++column) {
    const int64_t pivot = pivot_row(a, size, column);
    swap_rows(a, size, pivot, column);
    swap_rows(b, size, pivot, column);
    const double scale = 1.0 / a[column * size + column];
    for (int64_t i = 0; i < size; ++i) {
      a[column * size + i] *= scale;
      b[column * size + i] *= scale;
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = a[row * size + column];
      subtract_row(a, size, row, column, factor, 0);
      subtract_row(b, size, row, column, factor, 0);
    }
  }
}

static void run_matrices(const mslite_run *run, int32_t part, bool inverse) {
  const matrix_derived *n = run->derived;
  const int64_t elements = n->size * n->size;
  double *a = run->scratch;
  double *b = a + elements;
  float *y = run->outputs[0];
  const int64_t begin = part * n->per_part;
  const int64_t end = begin + n->per_part < n->matrices ? begin + n->per_part : n->matrices;
  for (int64_t matrix = begin; matrix < end; ++matrix) {
    const float *x = (const float *)run->inputs[0] + matrix * elements;
    for (int64_t i = 0; i < elements; ++i) a[i] = (double)x[i];
    if (!inverse) {
      y[matrix] = (float)determinant_of(a, n->size);
      continue;
    }
    invert(a, b, n->size);
    for (int64_t i = 0; i < elements; ++i) y[matrix * elements + i] = (float)b[i];
  }
}

static void determinant_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  run_matrices(run, part, false);
}

static void inverse_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  run_matrices(run, part, true);
}

#define MATRIX_KERNEL(function, operator, run_)    \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(matrix_derived),      \
      .support = matrix_support,                   \
      .prepare = matrix_prepare,                   \
      .run = run_,                                 \
  };

MATRIX_KERNEL(determinant, Determinant, determinant_run)
MATRIX_KERNEL(matrix_inverse, MatrixInverse, inverse_run)
