/* DetectionOutput of SSD (Caffe): decodes boxes against priors, suppresses overlaps per class and keeps the best
 * ones of an image. Rows are (image, label, score, x_min, y_min, x_max, y_max), ordered by image and descending
 * score. */
#include <string.h>

#include "detection/box_suppression.h"
#include "math/scalar_math.h"
#include "movement.h"

enum { CORNER = 1, CENTER_SIZE = 2, CORNER_SIZE = 3, ROW = 7 };

typedef struct {
  int64_t images;
  int32_t priors, classes, sets; /* sets: boxes per prior, 1 or one per class */
  int32_t background, code, scaled, candidates, keep;
  int32_t found; /* most rows that an image can have before `keep` is applied */
  float overlap, eta, confidence;
} output_derived;

/* The shared workspace. */
typedef struct {
  mslite_box *box; /* of one class, or of all */
  float *values;   /* scores of one class */
  int32_t *order;  /* candidates of one class */
  int32_t *kept;   /* priors that are kept, of one class */
  float *score;    /* of the results of one image; so are the rest */
  int32_t *prior, *label, *rank;
} output_space;

static output_space space_of(const output_derived *n, void *shared) {
  output_space space;
  space.box = shared;
  space.values = (float *)(space.box + n->priors);
  space.order = (int32_t *)(space.values + n->priors);
  space.kept = space.order + n->priors;
  space.score = (float *)(space.kept + n->priors);
  space.prior = (int32_t *)(space.score + n->found);
  space.label = space.prior + n->found;
  space.rank = space.label + n->found;
  return space;
}

static int32_t output_support(const mslite_node *node) {
  if (node->input_count != 3) return 0;
  for (int32_t i = 0; i < 3; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

/* Returns whether the tensor has `each` elements per image. */
static bool holds(const mslite_tensor *tensor, int64_t images, int64_t each) {
  const int64_t count = mslite_element_count(tensor);
  return images == 0 ? count == 0 : count % images == 0 && count / images == each;
}

static mslite_status output_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_DetectionOutput *a = node->params;
  const mslite_tensor *locations = node->inputs[0];
  const mslite_tensor *priors = node->inputs[2];
  output_derived *n = derived;
  if (a->num_classes < 1 || a->num_classes > INT32_MAX || a->code_type < CORNER || a->code_type > CORNER_SIZE ||
      a->nms_top_k < -1 || a->keep_top_k < -1 || !(a->nms_eta > 0) || a->nms_eta > 1) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  if (locations->rank < 2 || priors->rank != 3 || priors->dims[0] != 1 || priors->dims[2] % 4 != 0) {
    return MSLITE_ERROR_SHAPE;
  }
  const int64_t count = priors->dims[2] / 4;
  const int64_t classes = a->num_classes;
  const int64_t sets = a->share_location ? 1 : classes;
  n->images = locations->dims[0];
  if (priors->dims[1] < (a->variance_encoded_in_target ? 1 : 2) || count > INT32_MAX / 4 ||
      !holds(locations, n->images, count * sets * 4) || !holds(node->inputs[1], n->images, count * classes)) {
    return MSLITE_ERROR_SHAPE;
  }
  const int64_t candidates = a->nms_top_k < 0 || a->nms_top_k > count ? count : a->nms_top_k;
  if (candidates * classes > INT32_MAX / 4) return MSLITE_ERROR_UNSUPPORTED;
  n->priors = (int32_t)count;
  n->classes = (int32_t)classes;
  n->sets = (int32_t)sets;
  n->background = a->background_label < 0 || a->background_label >= classes ? -1 : (int32_t)a->background_label;
  n->code = (int32_t)a->code_type;
  n->scaled = !a->variance_encoded_in_target;
  n->candidates = (int32_t)candidates;
  n->found = (int32_t)(candidates * classes);
  n->keep = a->keep_top_k < 0 || a->keep_top_k > n->found ? n->found : (int32_t)a->keep_top_k;
  n->overlap = a->nms_threshold;
  n->eta = a->nms_eta;
  n->confidence = a->confidence_threshold;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = (int64_t)n->priors * (int64_t)(sizeof(mslite_box) + sizeof(float) + 2 * sizeof(int32_t)) +
                           (int64_t)n->found * (int64_t)(sizeof(float) + 3 * sizeof(int32_t));
  return MSLITE_OK;
}

static mslite_box decode(const output_derived *n, const float *code, const float *prior, const float *variance) {
  const float width = prior[2] - prior[0];
  const float height = prior[3] - prior[1];
  float v[4];
  for (int32_t i = 0; i < 4; ++i) v[i] = n->scaled ? code[i] * variance[i] : code[i];
  mslite_box box;
  if (n->code == CENTER_SIZE) {
    const float x = v[0] * width + (prior[0] + prior[2]) / 2;
    const float y = v[1] * height + (prior[1] + prior[3]) / 2;
    const float half_width = (float)mslite_exp((double)v[2]) * width / 2;
    const float half_height = (float)mslite_exp((double)v[3]) * height / 2;
    box.x_min = x - half_width;
    box.y_min = y - half_height;
    box.x_max = x + half_width;
    box.y_max = y + half_height;
    return box;
  }
  const float across = n->code == CORNER ? 1 : width;
  const float along = n->code == CORNER ? 1 : height;
  box.x_min = prior[0] + v[0] * across;
  box.y_min = prior[1] + v[1] * along;
  box.x_max = prior[2] + v[2] * across;
  box.y_max = prior[3] + v[3] * along;
  return box;
}

static mslite_box box_of(const output_derived *n, const mslite_run *run, int64_t image, int32_t label, int32_t prior) {
  const float *codes = run->inputs[0];
  const float *priors = (const float *)run->inputs[2] + 4 * (int64_t)prior;
  const int64_t set = n->sets == 1 ? 0 : label;
  const int64_t at = (image * n->priors + prior) * n->sets + set;
  return decode(n, codes + 4 * at, priors, n->scaled ? priors + 4 * (int64_t)n->priors : priors);
}

/* Finds the priors that are kept for the class whose scores are [prior, class] at `scores`, best first. */
static int32_t suppress(const output_derived *n, const output_space *space, const float *scores) {
  int32_t count = 0;
  int32_t kept = 0;
  for (int32_t i = 0; i < n->priors; ++i) {
    space->values[i] = scores[(int64_t)i * n->classes];
    if (space->values[i] > n->confidence) space->order[count++] = i;
  }
  mslite_sort_by_score(space->values, space->order, count);
  if (count > n->candidates) count = n->candidates;
  float overlap = n->overlap;
  for (int32_t i = 0; i < count; ++i) {
    bool free = true;
    for (int32_t j = 0; free && j < kept; ++j) {
      free = mslite_box_iou(&space->box[space->order[i]], &space->box[space->kept[j]]) <= overlap;
    }
    if (!free) continue;
    space->kept[kept++] = space->order[i];
    if (n->eta < 1 && overlap > 0.5f) overlap *= n->eta;
  }
  return kept;
}

/* Finds the results of one image; `rank` is their order. Returns how many are kept. */
static int32_t find(const output_derived *n, const mslite_run *run, const output_space *space, int64_t image) {
  const float *scores = (const float *)run->inputs[1] + image * n->priors * n->classes;
  int32_t total = 0;
  bool decoded = false;
  for (int32_t label = 0; label < n->classes; ++label) {
    if (label == n->background) continue;
    if (n->sets > 1 || !decoded) {
      decoded = true;
      for (int32_t i = 0; i < n->priors; ++i) space->box[i] = box_of(n, run, image, label, i);
    }
    const int32_t kept = suppress(n, space, scores + label);
    for (int32_t i = 0; i < kept; ++i) {
      space->prior[total] = space->kept[i];
      space->label[total] = label;
      space->score[total] = space->values[space->kept[i]];
      space->rank[total] = total;
      ++total;
    }
  }
  mslite_sort_by_score(space->score, space->rank, total);
  return total < n->keep ? total : n->keep;
}

/* Writes the rows if `to` is not NULL. Returns their number. */
static int64_t detect(const mslite_run *run, float *to) {
  const output_derived *n = run->derived;
  const output_space space = space_of(n, run->shared);
  int64_t rows = 0;
  for (int64_t image = 0; image < n->images; ++image) {
    const int32_t stays = find(n, run, &space, image);
    rows += stays;
    for (int32_t i = 0; to != NULL && i < stays; ++i) {
      const int32_t at = space.rank[i];
      const mslite_box box = box_of(n, run, image, space.label[at], space.prior[at]);
      const float row[ROW] = {(float)image, (float)space.label[at], space.score[at], box.x_min, box.y_min, box.x_max,
                              box.y_max};
      memcpy(to, row, sizeof row);
      to += ROW;
    }
  }
  if (rows > 0) return rows;
  /* As in Caffe, a row marks an image without results. */
  for (int64_t image = 0; to != NULL && image < n->images; ++image) {
    const float row[ROW] = {(float)image, -1, -1, -1, -1, -1, -1};
    memcpy(to + image * ROW, row, sizeof row);
  }
  return n->images;
}

static void output_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  detect(run, run->outputs[0]);
}

static mslite_status output_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  dims[0][0] = dims[0][1] = 1;
  dims[0][2] = detect(run, NULL);
  dims[0][3] = ROW;
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_detection_output = {
    .name = "detection_output_scalar",
    .op = MSLITE_OP_DetectionOutput,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(output_derived),
    .support = output_support,
    .prepare = output_prepare,
    .run = output_run,
    .count = output_count,
};
