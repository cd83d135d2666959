/* A step of gradient descent on some rows of a table. Weight and result may have the same memory; then other rows
 * are not written. A row that occurs several times in the index has a list of its occurrences, and the first one
 * applies the step: the result has the same bits as a step with the whole gradient, for any number of threads. */
#include <string.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384, BLOCK = 64 };

typedef struct {
  int64_t rows, count, width; /* of the table, of the index, elements per row */
  int64_t part_places;
} descent_derived;

static int32_t support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         node->inputs[2]->type == MSLITE_INT32 && node->inputs[3]->type == MSLITE_FLOAT32;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  descent_derived *numbers = derived;
  if (node->inputs[0]->rank < 1) return MSLITE_ERROR_SHAPE;
  numbers->rows = node->inputs[0]->dims[0];
  numbers->count = mslite_element_count(node->inputs[2]);
  numbers->width = 1;
  for (int32_t i = 1; i < node->inputs[0]->rank; ++i) numbers->width *= node->inputs[0]->dims[i];
  if (mslite_element_count(node->inputs[1]) != numbers->count * numbers->width) return MSLITE_ERROR_SHAPE;
  if (numbers->count > INT32_MAX || mslite_element_count(node->inputs[3]) != 1) return MSLITE_ERROR_SHAPE;
  numbers->part_places =
      numbers->width >= PART_ELEMENTS ? 1 : PART_ELEMENTS / (numbers->width > 0 ? numbers->width : 1);
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)((numbers->count + numbers->part_places - 1) / numbers->part_places);
  schedule->shared_bytes = (numbers->rows + numbers->count) * (int64_t)sizeof(int32_t);
  return MSLITE_OK;
}

/* Finds the first occurrence of each row in the index, and the next occurrence of the same row; -1: none. */
static void list_places(const mslite_run *run, const descent_derived *numbers) {
  const int32_t *index = run->inputs[2];
  int32_t *first = run->shared, *next = first + numbers->rows;
  for (int64_t row = 0; row < numbers->rows; ++row) first[row] = -1;
  for (int64_t place = numbers->count - 1; place >= 0; --place) {
    const int32_t row = index[place];
    if (row < 0 || row >= numbers->rows) continue;
    next[place] = first[row];
    first[row] = (int32_t)place;
  }
  if (run->outputs[0] == run->inputs[0]) return;
  memcpy(run->outputs[0], run->inputs[0], (size_t)(numbers->rows * numbers->width) * sizeof(float));
}

static void step_row(const mslite_run *run, const descent_derived *numbers, int64_t place, int64_t row) {
  const float *gradients = run->inputs[1];
  const float rate = *(const float *)run->inputs[3];
  const int32_t *next = (const int32_t *)run->shared + numbers->rows;
  float *weight = (float *)run->outputs[0] + row * numbers->width;
  for (int64_t begin = 0; begin < numbers->width; begin += BLOCK) {
    const int64_t size = numbers->width - begin < BLOCK ? numbers->width - begin : BLOCK;
    float sum[BLOCK] = {0};
    for (int64_t at = place; at >= 0; at = next[at]) {
      const float *gradient = gradients + at * numbers->width + begin;
      for (int64_t i = 0; i < size; ++i) sum[i] += gradient[i];
    }
    for (int64_t i = 0; i < size; ++i) weight[begin + i] = weight[begin + i] - sum[i] * rate;
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const descent_derived *numbers = run->derived;
  if (phase == 0) {
    list_places(run, numbers);
    return;
  }
  const int32_t *index = run->inputs[2], *first = run->shared;
  const int64_t begin = part * numbers->part_places;
  const int64_t left = numbers->count - begin;
  const int64_t end = begin + (left < numbers->part_places ? left : numbers->part_places);
  for (int64_t place = begin; place < end; ++place) {
    const int32_t row = index[place];
    if (row >= 0 && row < numbers->rows && first[row] == place) step_row(run, numbers, place, row);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel mslite_kernel_sparse_descent = {
    .name = "sparse_descent_scalar",
    .op = MSLITE_OP_SparseDescent,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(descent_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
