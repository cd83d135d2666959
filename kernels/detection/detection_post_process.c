/* DetectionPostProcess, as TensorFlow Lite's TFLite_Detection_PostProcess: decodes SSD boxes against anchors and
 * suppresses overlaps, per class (regular) or for each box's best class (fast). */
#include <string.h>

#include "detection/box_suppression.h"
#include "math/scalar_math.h"
#include "movement.h"

/* A float tensor, or an integer tensor with its scale. */
typedef struct {
  int32_t type, zero_point;
  double scale;
} reader;

typedef struct {
  int32_t boxes, classes, columns, label_offset; /* columns: the classes and the values before them */
  int32_t detections, per_class, per_box, regular;
  int32_t slots_per_detection;
  float overlap, threshold;
  float scale[4]; /* height, width, x, y */
  reader inputs[3];
} detection_derived;

/* The shared workspace. Arrays have one entry per box unless noted. */
typedef struct {
  mslite_box *box;
  float *score;
  int32_t *order, *active;
  int32_t *best;      /* classes of one box, by score */
  float *class_score; /* of one box */
  float *found_score; /* 2 * detections: results so far, plus one class */
  int32_t *found_box, *found_class, *rank;
} detection_space;

static float read_value(const reader *from, const void *data, int64_t at) {
  if (from->type == MSLITE_FLOAT32) return ((const float *)data)[at];
  return (float)(from->scale * (double)(mslite_integer_at(data, from->type, at) - from->zero_point));
}

static detection_space space_of(const detection_derived *n, void *shared) {
  detection_space space;
  space.box = shared;
  space.score = (float *)(space.box + n->boxes);
  space.order = (int32_t *)(space.score + n->boxes);
  space.active = space.order + n->boxes;
  space.best = space.active + n->boxes;
  space.class_score = (float *)(space.best + n->columns);
  space.found_score = space.class_score + n->columns;
  space.found_box = (int32_t *)(space.found_score + 2 * n->detections);
  space.found_class = space.found_box + 2 * n->detections;
  space.rank = space.found_class + 2 * n->detections;
  return space;
}

static bool set_reader(const mslite_tensor *tensor, reader *from) {
  from->type = tensor->type;
  if (tensor->type == MSLITE_FLOAT32) return true;
  if ((tensor->type != MSLITE_INT8 && tensor->type != MSLITE_UINT8) || tensor->quant_count != 1) return false;
  from->scale = tensor->quant[0].scale;
  from->zero_point = tensor->quant[0].zero_point;
  return true;
}

static int32_t detection_support(const mslite_node *node) {
  reader ignored;
  return node->input_count == 3 && node->output_count == 4 && set_reader(node->inputs[0], &ignored) &&
         set_reader(node->inputs[1], &ignored) && set_reader(node->inputs[2], &ignored);
}

static mslite_status detection_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_DetectionPostProcess *a = node->params;
  detection_derived *n = derived;
  const mslite_tensor *boxes = node->inputs[0];
  const mslite_tensor *scores = node->inputs[1];
  memset(n, 0, sizeof *n);
  for (int32_t i = 0; i < 3; ++i) set_reader(node->inputs[i], &n->inputs[i]);
  if (boxes->rank != 3 || boxes->dims[0] != 1 || boxes->dims[2] < 4 || scores->rank != 3 ||
      scores->dims[1] != boxes->dims[1] || mslite_element_count(node->inputs[2]) != 4 * boxes->dims[1] ||
      boxes->dims[2] != 4) {
    return MSLITE_ERROR_SHAPE;
  }
  const int64_t limit = INT32_MAX / 8;
  if (a->num_classes < 1 || a->num_classes > scores->dims[2] || scores->dims[2] > limit || boxes->dims[1] > limit ||
      a->max_detections < 0 || a->max_detections > limit || a->detections_per_class > INT32_MAX ||
      a->max_classes_per_detection < 1 || a->max_classes_per_detection > limit ||
      a->max_detections * a->max_classes_per_detection > limit || a->scale.count != 4) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  n->boxes = (int32_t)boxes->dims[1];
  n->columns = (int32_t)scores->dims[2];
  n->classes = (int32_t)a->num_classes;
  n->label_offset = n->columns - n->classes;
  n->detections = (int32_t)a->max_detections;
  n->per_class = a->detections_per_class > 0 ? (int32_t)a->detections_per_class : n->detections;
  n->per_box = (int32_t)(a->max_classes_per_detection < n->classes ? a->max_classes_per_detection : n->classes);
  n->slots_per_detection = (int32_t)a->max_classes_per_detection;
  n->regular = a->use_regular_nms;
  n->overlap = a->nms_iou_threshold;
  n->threshold = a->nms_score_threshold;
  for (int32_t i = 0; i < 4; ++i) n->scale[i] = a->scale.at[i];
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes =
      (int64_t)n->boxes * (int64_t)(sizeof(mslite_box) + 3 * 4) + (int64_t)n->columns * 8 + (int64_t)n->detections * 32;
  return MSLITE_OK;
}

static void decode_boxes(const detection_derived *n, const mslite_run *run, mslite_box *boxes) {
  for (int64_t i = 0; i < n->boxes; ++i) {
    float code[4];
    float anchor[4]; /* y, x, height, width, like the codes */
    for (int32_t k = 0; k < 4; ++k) {
      code[k] = read_value(&n->inputs[0], run->inputs[0], 4 * i + k);
      anchor[k] = read_value(&n->inputs[2], run->inputs[2], 4 * i + k);
    }
    const float y = code[0] / n->scale[3] * anchor[2] + anchor[0];
    const float x = code[1] / n->scale[2] * anchor[3] + anchor[1];
    const float half_height = 0.5f * (float)mslite_exp((double)(code[2] / n->scale[0])) * anchor[2];
    const float half_width = 0.5f * (float)mslite_exp((double)(code[3] / n->scale[1])) * anchor[3];
    boxes[i].y_min = y - half_height;
    boxes[i].x_min = x - half_width;
    boxes[i].y_max = y + half_height;
    boxes[i].x_max = x + half_width;
  }
}

/* Keeps at most `limit` boxes of `space->score`, best first, at the front of `space->order`. Returns their number. */
static int32_t suppress(const detection_derived *n, const detection_space *space, int32_t limit) {
  int32_t count = 0;
  int32_t kept = 0;
  for (int32_t i = 0; i < n->boxes; ++i) {
    if (space->score[i] >= n->threshold) space->order[count++] = i;
  }
  mslite_sort_by_score(space->score, space->order, count);
  for (int32_t i = 0; i < count && kept < limit; ++i) {
    bool free = true;
    for (int32_t j = 0; free && j < kept; ++j) {
      free = !(mslite_box_iou(&space->box[space->order[i]], &space->box[space->active[j]]) > n->overlap);
    }
    if (free) space->active[kept++] = space->order[i];
  }
  memcpy(space->order, space->active, (size_t)kept * sizeof *space->order);
  return kept;
}

static void put(const mslite_run *run, const mslite_box *box, int32_t slot, int32_t label, float score) {
  memcpy((float *)run->outputs[0] + 4 * (int64_t)slot, box, sizeof *box);
  ((float *)run->outputs[1])[slot] = (float)label;
  ((float *)run->outputs[2])[slot] = score;
}

static int32_t run_fast(const detection_derived *n, const mslite_run *run, const detection_space *space) {
  for (int64_t i = 0; i < n->boxes; ++i) {
    space->score[i] = read_value(&n->inputs[1], run->inputs[1], i * n->columns + n->label_offset);
    for (int32_t c = 1; c < n->classes; ++c) {
      const float score = read_value(&n->inputs[1], run->inputs[1], i * n->columns + n->label_offset + c);
      if (score > space->score[i]) space->score[i] = score;
    }
  }
  const int32_t kept = suppress(n, space, n->detections);
  for (int32_t i = 0; i < kept; ++i) {
    const int64_t box = space->order[i];
    for (int32_t c = 0; c < n->classes; ++c) {
      space->best[c] = c;
      space->class_score[c] = read_value(&n->inputs[1], run->inputs[1], box * n->columns + n->label_offset + c);
    }
    mslite_sort_by_score(space->class_score, space->best, n->classes);
    for (int32_t k = 0; k < n->per_box; ++k) {
      put(run, &space->box[box], i * n->slots_per_detection + k, space->best[k], space->class_score[space->best[k]]);
    }
  }
  return kept;
}

static int32_t run_regular(const detection_derived *n, const mslite_run *run, const detection_space *space) {
  int32_t found = 0;
  for (int32_t label = 0; label < n->classes; ++label) {
    for (int64_t i = 0; i < n->boxes; ++i) {
      space->score[i] = read_value(&n->inputs[1], run->inputs[1], i * n->columns + n->label_offset + label);
    }
    int32_t kept = suppress(n, space, n->per_class);
    if (kept > n->detections) kept = n->detections;
    for (int32_t i = 0; i < kept; ++i) {
      space->found_score[found + i] = space->score[space->order[i]];
      space->found_box[found + i] = space->order[i];
      space->found_class[found + i] = label;
    }
    /* Moves the best `detections` so far to the front; entries that are out of order are moved via the second half. */
    const int32_t total = found + kept;
    for (int32_t i = 0; i < total; ++i) space->rank[i] = i;
    mslite_sort_by_score(space->found_score, space->rank, total);
    found = total < n->detections ? total : n->detections;
    for (int32_t i = 0; i < found; ++i) {
      /* Selection sort: swap the i-th best into place and correct the ranks that pointed to either. */
      const int32_t from = space->rank[i];
      const float score = space->found_score[i];
      const int32_t box = space->found_box[i];
      const int32_t old = space->found_class[i];
      space->found_score[i] = space->found_score[from];
      space->found_box[i] = space->found_box[from];
      space->found_class[i] = space->found_class[from];
      space->found_score[from] = score;
      space->found_box[from] = box;
      space->found_class[from] = old;
      for (int32_t j = i + 1; j < total; ++j) {
        if (space->rank[j] == i) {
          space->rank[j] = from;
          break;
        }
      }
    }
  }
  for (int32_t i = 0; i < found; ++i) {
    put(run, &space->box[space->found_box[i]], i, space->found_class[i], space->found_score[i]);
  }
  return found;
}

static void detection_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const detection_derived *n = run->derived;
  const detection_space space = space_of(n, run->shared);
  const int32_t slots = n->detections * n->slots_per_detection;
  memset(run->outputs[0], 0, (size_t)slots * 4 * sizeof(float));
  memset(run->outputs[1], 0, (size_t)slots * sizeof(float));
  memset(run->outputs[2], 0, (size_t)slots * sizeof(float));
  decode_boxes(n, run, space.box);
  const int32_t found = n->regular ? run_regular(n, run, &space) : run_fast(n, run, &space);
  *(float *)run->outputs[3] = (float)found;
}

MSLITE_MOVEMENT_KERNEL(detection_post_process, DetectionPostProcess, detection_derived, detection_support,
                       detection_prepare, detection_run, NULL)
