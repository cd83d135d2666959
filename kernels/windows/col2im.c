/* Col2Im: every image element is the sum of the block elements at its position. A part is one channel of one image. */
#include <string.h>

#include "known_values.h"
#include "windows/window_lists.h"

typedef struct {
  mslite_window_lists window;
  int64_t image[MSLITE_WINDOW_RANK];
  int64_t block[MSLITE_WINDOW_RANK];
  int64_t places[MSLITE_WINDOW_RANK];
  int64_t image_size, block_size, place_count;
} col2im_derived;

static int32_t col2im_support(const mslite_node *node) {
  int64_t entries[MSLITE_WINDOW_RANK];
  int32_t count;
  return node->input_count == 3 && node->inputs[0]->type == MSLITE_FLOAT32 &&
         mslite_read_known_entries(node->inputs[1], entries, MSLITE_WINDOW_RANK, &count) &&
         mslite_read_known_entries(node->inputs[2], entries, MSLITE_WINDOW_RANK, &count);
}

static mslite_status col2im_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Col2Im *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  col2im_derived *n = derived;
  int32_t rank, block_rank;
  if (!mslite_read_known_entries(node->inputs[1], n->image, MSLITE_WINDOW_RANK, &rank) ||
      !mslite_read_known_entries(node->inputs[2], n->block, MSLITE_WINDOW_RANK, &block_rank) || rank != block_rank ||
      !mslite_read_lists(rank, &attributes->strides, &attributes->dilations, &attributes->pads, &n->window)) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  n->image_size = n->block_size = n->place_count = 1;
  for (int32_t i = 0; i < rank; ++i) {
    n->places[i] = mslite_window_places(&n->window, i, n->block[i], n->image[i], false);
    n->image_size *= n->image[i];
    n->block_size *= n->block[i];
    n->place_count *= n->places[i];
  }
  if (x->rank != 3 || x->dims[2] != n->place_count || x->dims[1] % n->block_size != 0) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(x->dims[0] * (x->dims[1] / n->block_size));
  return MSLITE_OK;
}

/* Adds the contribution of one tap of the block to the image. */
static void add_tap(const col2im_derived *n, const int64_t *tap, const float *from, float *image) {
  const int32_t rank = n->window.rank;
  int64_t place[MSLITE_WINDOW_RANK] = {0};
  for (int64_t count = 0; count < n->place_count; ++count) {
    int64_t at = 0;
    bool inside = true;
    for (int32_t i = 0; i < rank; ++i) {
      const int64_t index = place[i] * n->window.stride[i] - n->window.begin[i] + tap[i] * n->window.dilation[i];
      inside = inside && index >= 0 && index < n->image[i];
      at = at * n->image[i] + index;
    }
    if (inside) image[at] += from[count];
    for (int32_t i = rank - 1; i >= 0 && ++place[i] == n->places[i]; --i) place[i] = 0;
  }
}

static void col2im_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const col2im_derived *n = run->derived;
  const float *x = (const float *)run->inputs[0] + part * n->block_size * n->place_count;
  float *image = (float *)run->outputs[0] + part * n->image_size;
  memset(image, 0, (size_t)n->image_size * sizeof *image);
  int64_t tap[MSLITE_WINDOW_RANK] = {0};
  for (int64_t count = 0; count < n->block_size; ++count) {
    add_tap(n, tap, x + count * n->place_count, image);
    for (int32_t i = n->window.rank - 1; i >= 0 && ++tap[i] == n->block[i]; --i) tap[i] = 0;
  }
}

const mslite_kernel mslite_kernel_col2im = {
    .name = "col2im_scalar",
    .op = MSLITE_OP_Col2Im,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(col2im_derived),
    .support = col2im_support,
    .prepare = col2im_prepare,
    .run = col2im_run,
};
