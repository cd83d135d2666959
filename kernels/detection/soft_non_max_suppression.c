/* SoftNonMaxSuppression: selects boxes [n, 4] (two opposite corners) by score, best first. Each selected box reduces
 * the scores of the others by exp(-overlap^2 / (2 sigma)); boxes whose score is not above the threshold are removed.
 * With `hard_limit`, or sigma 0, a box with an overlap of iou_threshold or more is removed. */
#include "detection/box_suppression.h"
#include "math/scalar_math.h"
#include "movement.h"

typedef struct {
  int32_t boxes, limit_type, hard;
} soft_derived;

/* The state of the candidates during selection. */
typedef struct {
  float *score;  /* reduced scores of all boxes */
  int32_t *seen; /* the number of selected boxes that a box was compared with */
  int32_t *heap; /* candidates, the best one at the root */
  int32_t *kept;
  float *kept_score;
} soft_space;

enum { LISTS = 5 };

static int32_t soft_support(const mslite_node *node) {
  const int32_t floats[] = {0, 1, 3, 4, 5};
  for (int32_t i = 0; i < 5; ++i) {
    if (node->inputs[floats[i]]->type != MSLITE_FLOAT32) return 0;
  }
  return node->inputs[2]->type == MSLITE_INT64 || node->inputs[2]->type == MSLITE_INT32;
}

static mslite_status soft_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  soft_derived *numbers = derived;
  const mslite_tensor *boxes = node->inputs[0], *scores = node->inputs[1];
  if (boxes->rank != 2 || boxes->dims[1] != 4 || scores->rank != 1 || scores->dims[0] != boxes->dims[0])
    return MSLITE_ERROR_SHAPE;
  for (int32_t i = 2; i < 6; ++i) {
    if (mslite_element_count(node->inputs[i]) != 1) return MSLITE_ERROR_SHAPE;
  }
  if (boxes->dims[0] > INT32_MAX / 2) return MSLITE_ERROR_UNSUPPORTED;
  numbers->boxes = (int32_t)boxes->dims[0];
  numbers->limit_type = node->inputs[2]->type;
  numbers->hard = ((const mslite_SoftNonMaxSuppression *)node->params)->hard_limit;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = LISTS * (int64_t)numbers->boxes * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static bool better(const float *score, int32_t a, int32_t b) {
  return score[a] > score[b] || (!(score[a] < score[b]) && a < b);
}

static void sink(const soft_space *space, int32_t root, int32_t count) {
  int32_t *heap = space->heap;
  const int32_t item = heap[root];
  for (int32_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && better(space->score, heap[child + 1], heap[child])) ++child;
    if (!better(space->score, heap[child], item)) break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = item;
}

static mslite_box corners(const float *at) {
  const mslite_box box = {at[0] < at[2] ? at[0] : at[2], at[1] < at[3] ? at[1] : at[3], at[0] < at[2] ? at[2] : at[0],
                          at[1] < at[3] ? at[3] : at[1]};
  return box;
}

/* Compares a candidate with the boxes that were selected since it was last compared, newest first. Returns false if
 * it is removed. */
static bool survives(const mslite_run *run, const soft_space *space, int32_t candidate, int32_t kept) {
  const soft_derived *numbers = run->derived;
  const float *boxes = run->inputs[0];
  const float limit = *(const float *)run->inputs[3], lowest = *(const float *)run->inputs[4];
  const float sigma = *(const float *)run->inputs[5];
  const mslite_box own = corners(boxes + 4 * (int64_t)candidate);
  for (int32_t j = kept - 1; j >= space->seen[candidate]; --j) {
    const mslite_box other = corners(boxes + 4 * (int64_t)space->kept[j]);
    const float overlap = mslite_box_iou(&own, &other);
    if ((numbers->hard || !(sigma > 0)) && overlap >= limit) return false;
    if (sigma > 0) space->score[candidate] *= (float)mslite_exp((double)(-0.5F / sigma * overlap * overlap));
    if (!(space->score[candidate] > lowest)) return false;
  }
  space->seen[candidate] = kept;
  return true;
}

/* Selects boxes and their scores into `space`. Returns their number. */
static int32_t choose(const mslite_run *run, soft_space *space) {
  const soft_derived *numbers = run->derived;
  const int64_t n = numbers->boxes;
  const int64_t limit = mslite_integer_at(run->inputs[2], numbers->limit_type, 0);
  const float *scores = run->inputs[1];
  const float lowest = *(const float *)run->inputs[4];
  space->score = run->shared;
  space->kept_score = space->score + n;
  space->seen = (int32_t *)(space->kept_score + n);
  space->heap = space->seen + n;
  space->kept = space->heap + n;
  int32_t count = 0, kept = 0;
  for (int32_t i = 0; i < numbers->boxes; ++i) {
    space->score[i] = scores[i];
    space->seen[i] = 0;
    if (scores[i] > lowest) space->heap[count++] = i;
  }
  for (int32_t i = count / 2 - 1; i >= 0; --i) sink(space, i, count);
  while (count > 0 && kept < limit) {
    const int32_t candidate = space->heap[0];
    const float before = space->score[candidate];
    const bool stays = survives(run, space, candidate, kept);
    if (stays && space->score[candidate] == before) {
      space->kept_score[kept] = before;
      space->kept[kept++] = candidate;
    }
    if (!stays || space->score[candidate] == before) space->heap[0] = space->heap[--count];
    if (count > 0) sink(space, 0, count);
  }
  return kept;
}

static void soft_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  soft_space space;
  const int32_t kept = choose(run, &space);
  for (int32_t i = 0; i < kept; ++i) {
    ((int32_t *)run->outputs[0])[i] = space.kept[i];
    ((float *)run->outputs[1])[i] = space.kept_score[i];
  }
}

static mslite_status soft_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  soft_space space;
  dims[0][0] = dims[1][0] = choose(run, &space);
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_soft_non_max_suppression = {
    .name = "soft_non_max_suppression_scalar",
    .op = MSLITE_OP_SoftNonMaxSuppression,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(soft_derived),
    .support = soft_support,
    .prepare = soft_prepare,
    .run = soft_run,
    .count = soft_count,
};
