/* LshProjection: bit b of hash h is the sign of sum(weight[i] * fingerprint(seed[h][b], item i)), with FarmHash's
 * 64-bit fingerprint of the bytes of the seed and the item as a signed number. DENSE outputs the bits one by one,
 * SPARSE one number h * 2^bits + bits per hash. */
#include <string.h>

#include "kernel.h"
#include "text/fingerprint.h"

enum { LONGEST_KEY = 64 };

typedef struct {
  int64_t hashes, bits, items, item_bytes;
  int32_t sparse, weighted;
} lsh_derived;

static int64_t item_bytes(const mslite_tensor *items) {
  int64_t bytes = mslite_type_size(items->type);
  for (int32_t i = 1; i < items->rank; ++i) bytes *= items->dims[i];
  return bytes;
}

static int32_t support(const mslite_node *node) {
  const mslite_tensor *hash = node->inputs[0], *items = node->inputs[1];
  if (node->input_count < 2 || hash->type != MSLITE_FLOAT32 || hash->rank != 2 || items->rank < 1) return 0;
  if (items->type == MSLITE_STRING || mslite_type_size(items->type) == 0) return 0;
  if (node->input_count > 2 && node->inputs[2]->type != MSLITE_FLOAT32) return 0;
  const int64_t bytes = item_bytes(items);
  return bytes > 0 && bytes + (int64_t)sizeof(float) <= LONGEST_KEY;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *hash = node->inputs[0], *items = node->inputs[1];
  const int32_t type = ((const mslite_LshProjection *)node->params)->type;
  lsh_derived *numbers = derived;
  numbers->hashes = hash->dims[0];
  numbers->bits = hash->dims[1];
  numbers->items = items->dims[0];
  numbers->item_bytes = item_bytes(items);
  numbers->sparse = type == MSLITE_LSH_PROJECTION_TYPE_SPARSE;
  numbers->weighted = node->input_count > 2;
  if (numbers->bits > 31 || (numbers->weighted && mslite_element_count(node->inputs[2]) != numbers->items))
    return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)numbers->hashes;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lsh_derived *numbers = run->derived;
  const float *seeds = (const float *)run->inputs[0] + part * numbers->bits;
  const float *weights = numbers->weighted ? run->inputs[2] : NULL;
  int32_t *y = run->outputs[0];
  uint32_t joined = 0;
  for (int64_t bit = 0; bit < numbers->bits; ++bit) {
    uint8_t key[LONGEST_KEY];
    double score = 0;
    memcpy(key, &seeds[bit], sizeof(float));
    for (int64_t i = 0; i < numbers->items; ++i) {
      memcpy(key + sizeof(float), (const char *)run->inputs[1] + i * numbers->item_bytes, (size_t)numbers->item_bytes);
      const double value = (double)(int64_t)mslite_fingerprint(key, numbers->item_bytes + (int64_t)sizeof(float));
      score += weights == NULL ? value : (double)weights[i] * value;
    }
    joined = joined << 1 | (score > 0 ? 1U : 0U);
    if (!numbers->sparse) y[part * numbers->bits + bit] = score > 0;
  }
  if (numbers->sparse) y[part] = (int32_t)(((uint32_t)part << numbers->bits) + joined);
}

const mslite_kernel mslite_kernel_lsh_projection = {
    .name = "lsh_projection_scalar",
    .op = MSLITE_OP_LshProjection,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(lsh_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
