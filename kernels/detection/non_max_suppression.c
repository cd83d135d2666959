/* NonMaxSuppression as ONNX defines it: boxes [batch, n, 4], scores [batch, classes, n]. */
#include "detection/box_order.h"
#include "movement.h"

typedef struct {
  int64_t batch, classes;
  int32_t boxes;
  int32_t center; /* boxes are (x, y, width, height) of their centres, otherwise two opposite corners (y, x, y, x) */
  int32_t input_count, limit_type;
} suppression_derived;

static int32_t suppression_support(const mslite_node *node) {
  if (node->inputs[0]->type != MSLITE_FLOAT32 || node->inputs[1]->type != MSLITE_FLOAT32) return 0;
  for (int32_t i = 3; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return node->input_count < 3 || node->inputs[2]->type == MSLITE_INT64 || node->inputs[2]->type == MSLITE_INT32;
}

static mslite_status suppression_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  suppression_derived *numbers = derived;
  const mslite_tensor *boxes = node->inputs[0];
  const mslite_tensor *scores = node->inputs[1];
  const bool ranks = boxes->rank == 3 && scores->rank == 3;
  if (!ranks || boxes->dims[2] != 4 || scores->dims[0] != boxes->dims[0] || scores->dims[2] != boxes->dims[1])
    return MSLITE_ERROR_SHAPE;
  if (boxes->dims[1] > INT32_MAX / 2) return MSLITE_ERROR_UNSUPPORTED;
  numbers->batch = boxes->dims[0];
  numbers->boxes = (int32_t)boxes->dims[1];
  numbers->classes = scores->dims[1];
  numbers->center = ((const mslite_NonMaxSuppression *)node->params)->center_point_box != 0;
  numbers->input_count = node->input_count;
  numbers->limit_type = node->input_count > 2 ? node->inputs[2]->type : MSLITE_INT32;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = 2 * (int64_t)numbers->boxes * (int64_t)sizeof(int32_t); /* candidates, kept */
  return MSLITE_OK;
}

static mslite_box read_box(const suppression_derived *numbers, const float *at) {
  mslite_box box;
  if (numbers->center) {
    box.x_min = at[0] - at[2] / 2;
    box.x_max = at[0] + at[2] / 2;
    box.y_min = at[1] - at[3] / 2;
    box.y_max = at[1] + at[3] / 2;
    return box;
  }
  box.y_min = at[0] < at[2] ? at[0] : at[2];
  box.y_max = at[0] < at[2] ? at[2] : at[0];
  box.x_min = at[1] < at[3] ? at[1] : at[3];
  box.x_max = at[1] < at[3] ? at[3] : at[1];
  return box;
}

/* Writes the kept (batch, class, box) triples when `to` is given; returns their number. */
static int64_t suppress(const mslite_run *run, int32_t *to) {
  const suppression_derived *numbers = run->derived;
  const int64_t limit = numbers->input_count > 2 ? mslite_integer_at(run->inputs[2], numbers->limit_type, 0) : 0;
  const float overlap = numbers->input_count > 3 ? *(const float *)run->inputs[3] : 0;
  int32_t *candidates = run->shared;
  int32_t *kept = candidates + numbers->boxes;
  int64_t total = 0;
  for (int64_t pair = 0; pair < numbers->batch * numbers->classes; ++pair) {
    const int64_t batch = pair / numbers->classes;
    const float *scores = (const float *)run->inputs[1] + pair * numbers->boxes;
    const float *boxes = (const float *)run->inputs[0] + batch * numbers->boxes * 4;
    int32_t count = 0;
    int32_t kept_count = 0;
    for (int32_t i = 0; i < numbers->boxes; ++i) {
      if (numbers->input_count < 5 || scores[i] > *(const float *)run->inputs[4]) candidates[count++] = i;
    }
    mslite_sort_by_score(scores, candidates, count);
    for (int32_t i = 0; i < count && kept_count < limit; ++i) {
      const mslite_box box = read_box(numbers, boxes + 4 * (int64_t)candidates[i]);
      bool free = true;
      for (int32_t j = 0; free && j < kept_count; ++j) {
        const mslite_box other = read_box(numbers, boxes + 4 * (int64_t)kept[j]);
        free = !(mslite_box_overlap(&box, &other) > overlap);
      }
      if (!free) continue;
      kept[kept_count++] = candidates[i];
      if (to != NULL) {
        to[3 * total] = (int32_t)batch;
        to[3 * total + 1] = (int32_t)(pair % numbers->classes);
        to[3 * total + 2] = candidates[i];
      }
      ++total;
    }
  }
  return total;
}

static void suppression_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  suppress(run, run->outputs[0]);
}

static mslite_status suppression_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  dims[0][0] = suppress(run, NULL);
  dims[0][1] = 3;
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_non_max_suppression = {
    .name = "non_max_suppression_scalar",
    .op = MSLITE_OP_NonMaxSuppression,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(suppression_derived),
    .support = suppression_support,
    .prepare = suppression_prepare,
    .run = suppression_run,
    .count = suppression_count,
};
