/* NonMaxSuppression, as defined by ONNX: boxes [batch, n, 4], scores [batch, classes, n]. PaddedNonMaxSuppression
 * has the largest possible number of rows; unused rows are -1. */
#include "detection/box_suppression.h"
#include "movement.h"

typedef struct {
  int64_t batch, classes;
  int32_t boxes;
  int32_t center; /* boxes are (x, y, width, height) of their centers; otherwise two opposite corners (y, x, y, x) */
  int32_t limit_input, limit_type;    /* the input with the number of boxes to keep; -1: `limit` */
  int32_t overlap_input, score_input; /* the inputs of the thresholds; -1: none */
  int64_t limit;
  int64_t rows; /* rows of the padded result */
} suppression_derived;

static bool are_floats(const mslite_node *node, int32_t first) {
  if (node->inputs[0]->type != MSLITE_FLOAT32 || node->inputs[1]->type != MSLITE_FLOAT32) return false;
  for (int32_t i = first; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return false;
  }
  return true;
}

static int32_t suppression_support(const mslite_node *node) {
  if (!are_floats(node, 3)) return 0;
  return node->input_count < 3 || node->inputs[2]->type == MSLITE_INT64 || node->inputs[2]->type == MSLITE_INT32;
}

static int32_t padded_support(const mslite_node *node) { return are_floats(node, 2); }

/* Prepares both operators; `threshold` is the index of the first threshold input. */
static mslite_status prepare(const mslite_node *node, int32_t threshold, suppression_derived *numbers,
                             mslite_schedule *schedule) {
  const mslite_tensor *boxes = node->inputs[0];
  const mslite_tensor *scores = node->inputs[1];
  const bool ranks = boxes->rank == 3 && scores->rank == 3;
  if (!ranks || boxes->dims[2] != 4 || scores->dims[0] != boxes->dims[0] || scores->dims[2] != boxes->dims[1])
    return MSLITE_ERROR_SHAPE;
  if (boxes->dims[1] > INT32_MAX / 2) return MSLITE_ERROR_UNSUPPORTED;
  numbers->batch = boxes->dims[0];
  numbers->boxes = (int32_t)boxes->dims[1];
  numbers->classes = scores->dims[1];
  numbers->overlap_input = node->input_count > threshold ? threshold : -1;
  numbers->score_input = node->input_count > threshold + 1 ? threshold + 1 : -1;
  numbers->limit = numbers->rows = 0;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = 2 * (int64_t)numbers->boxes * (int64_t)sizeof(int32_t); /* candidates, and kept boxes */
  return MSLITE_OK;
}

static mslite_status suppression_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  suppression_derived *numbers = derived;
  numbers->center = ((const mslite_NonMaxSuppression *)node->params)->center_point_box != 0;
  numbers->limit_input = node->input_count > 2 ? 2 : -1;
  numbers->limit_type = node->input_count > 2 ? node->inputs[2]->type : MSLITE_INT32;
  return prepare(node, 3, numbers, schedule);
}

static mslite_status padded_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  suppression_derived *numbers = derived;
  const mslite_PaddedNonMaxSuppression *attributes = node->params;
  if (attributes->max_output_boxes < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->center = attributes->center_point_box != 0;
  numbers->limit_input = -1;
  numbers->limit_type = MSLITE_INT32;
  const mslite_status status = prepare(node, 2, numbers, schedule);
  if (status != MSLITE_OK) return status;
  numbers->limit = attributes->max_output_boxes < numbers->boxes ? attributes->max_output_boxes : numbers->boxes;
  numbers->rows = numbers->batch * numbers->classes * numbers->limit;
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

/* Writes the kept (batch, class, box) triples if `to` is not NULL. Returns their number. */
static int64_t suppress(const mslite_run *run, int32_t *to) {
  const suppression_derived *numbers = run->derived;
  const int64_t limit = numbers->limit_input < 0
                            ? numbers->limit
                            : mslite_integer_at(run->inputs[numbers->limit_input], numbers->limit_type, 0);
  const float overlap = numbers->overlap_input < 0 ? 0 : *(const float *)run->inputs[numbers->overlap_input];
  const float *lowest = numbers->score_input < 0 ? NULL : run->inputs[numbers->score_input];
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
      if (lowest == NULL || scores[i] > *lowest) candidates[count++] = i;
    }
    mslite_sort_by_score(scores, candidates, count);
    for (int32_t i = 0; i < count && kept_count < limit; ++i) {
      const mslite_box box = read_box(numbers, boxes + 4 * (int64_t)candidates[i]);
      bool free = true;
      for (int32_t j = 0; free && j < kept_count; ++j) {
        const mslite_box other = read_box(numbers, boxes + 4 * (int64_t)kept[j]);
        free = !(mslite_box_iou(&box, &other) > overlap);
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

static void padded_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const suppression_derived *numbers = run->derived;
  int32_t *y = run->outputs[0];
  for (int64_t i = 3 * suppress(run, y); i < 3 * numbers->rows; ++i) y[i] = -1;
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

MSLITE_MOVEMENT_KERNEL(padded_non_max_suppression, PaddedNonMaxSuppression, suppression_derived, padded_support,
                       padded_prepare, padded_run, NULL)
