/* CustomExtractFeatures: for each string its fingerprint modulo a million, and the number of its words (blanks + 1);
 * 0 and 0 for the start and end marks of a sentence. CustomPredict: the labels with the largest weights, averaged
 * over the hashes that are found among the keys. */
#include "kernel.h"
#include "text/fingerprint.h"
#include "text/strings.h"

enum { LABELS = 1000000 };

typedef struct {
  int64_t bytes;
} feature_derived;

static int32_t feature_support(const mslite_node *node) { return mslite_holds_strings(node->inputs[0]); }

static mslite_status feature_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  ((feature_derived *)derived)->bytes = mslite_element_count(node->inputs[0]);
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static bool is_mark(const uint8_t *text, int64_t length) {
  return (length == 3 && (memcmp(text, "<S>", 3) == 0 || memcmp(text, "<E>", 3) == 0)) ||
         (length == 7 && memcmp(text, "<S> <E>", 7) == 0);
}

static void feature_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const mslite_strings strings = mslite_read_strings(run->inputs[0], ((const feature_derived *)run->derived)->bytes);
  int32_t *labels = run->outputs[0];
  float *weights = run->outputs[1];
  labels[0] = 0;
  weights[0] = 0;
  for (int32_t i = 0; i < strings.count; ++i) {
    int64_t length;
    const uint8_t *text = mslite_string_at(&strings, i, &length);
    int64_t words = 1;
    for (int64_t at = 0; at < length; ++at) words += text[at] == ' ';
    const bool mark = is_mark(text, length);
    labels[i] = mark ? 0 : (int32_t)(mslite_fingerprint(text, length) % LABELS);
    weights[i] = mark ? 0 : (float)words;
  }
}

static mslite_status feature_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const mslite_strings strings = mslite_read_strings(run->inputs[0], ((const feature_derived *)run->derived)->bytes);
  dims[0][0] = dims[1][0] = strings.count > 0 ? strings.count : 1;
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_custom_extract_features = {
    .name = "custom_extract_features_scalar",
    .op = MSLITE_OP_CustomExtractFeatures,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(feature_derived),
    .support = feature_support,
    .prepare = feature_prepare,
    .run = feature_run,
    .count = feature_count,
};

/* ---- CustomPredict ---- */

typedef struct {
  int64_t hashes, keys, labels, results; /* labels per key */
  float threshold;
} predict_derived;

typedef struct {
  int32_t label;
  float weight;
} found_label;

static int32_t predict_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_INT32 && node->inputs[1]->type == MSLITE_INT32 &&
         node->inputs[2]->type == MSLITE_INT32 && node->inputs[3]->type == MSLITE_FLOAT32;
}

static mslite_status predict_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *labels = node->inputs[2];
  predict_derived *numbers = derived;
  numbers->hashes = mslite_element_count(node->inputs[0]);
  numbers->keys = mslite_element_count(node->inputs[1]);
  numbers->labels = labels->rank == 2 ? labels->dims[1] : -1;
  numbers->results = node->outputs[0]->dims[0];
  numbers->threshold = ((const mslite_CustomPredict *)node->params)->weight_threshold;
  if (numbers->labels < 0 || labels->dims[0] != numbers->keys ||
      mslite_element_count(node->inputs[3]) != mslite_element_count(labels))
    return MSLITE_ERROR_SHAPE;
  if (numbers->hashes > INT32_MAX || numbers->labels > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = numbers->hashes * numbers->labels * (int64_t)sizeof(found_label);
  return MSLITE_OK;
}

/* Returns the first key that is not less than the hash. */
static int64_t place_of(const int32_t *keys, int64_t count, int32_t hash) {
  int64_t low = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    if (keys[low + half] < hash) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

/* Collects the labels of all hashes with their mean weights, in order of appearance. Returns their number. */
static int64_t collect(const mslite_run *run, found_label *found) {
  const predict_derived *numbers = run->derived;
  const int32_t *hashes = run->inputs[0], *keys = run->inputs[1], *labels = run->inputs[2];
  const float *weights = run->inputs[3];
  int64_t count = 0;
  for (int64_t i = 0; i < numbers->hashes; ++i) {
    const int64_t row = place_of(keys, numbers->keys, hashes[i]);
    if (row == numbers->keys || keys[row] != hashes[i]) continue;
    for (int64_t j = row * numbers->labels; j < (row + 1) * numbers->labels; ++j) {
      int64_t at = 0;
      while (at < count && found[at].label != labels[j]) ++at;
      if (at == count) {
        found[count].label = labels[j];
        found[count++].weight = 0;
      }
      found[at].weight += weights[j] / (float)numbers->hashes;
    }
  }
  return count;
}

static void predict_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const predict_derived *numbers = run->derived;
  found_label *found = run->shared;
  int64_t count = collect(run, found);
  for (int64_t i = 0; i < numbers->results; ++i) {
    int64_t best = 0;
    for (int64_t j = 1; j < count; ++j) best = found[j].weight > found[best].weight ? j : best;
    const bool good = count > 0 && !(found[best].weight < numbers->threshold);
    ((int32_t *)run->outputs[0])[i] = good ? found[best].label : -1;
    ((float *)run->outputs[1])[i] = good ? found[best].weight : 0;
    if (count == 0) continue;
    memmove(found + best, found + best + 1, (size_t)(--count - best) * sizeof *found);
  }
}

const mslite_kernel mslite_kernel_custom_predict = {
    .name = "custom_predict_scalar",
    .op = MSLITE_OP_CustomPredict,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(predict_derived),
    .support = predict_support,
    .prepare = predict_prepare,
    .run = predict_run,
};
