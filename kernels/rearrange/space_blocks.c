/* DepthToSpace, SpaceToDepth (both NHWC), SpaceToBatch(ND) and BatchToSpace(ND). */
#include <string.h>

#include "movement.h"
#include "quantized.h"
#include "rearrange/block_plan.h"

/* Both directions copy between space [n, h, i, w, j, c] and depth [n, h, w, (i, j, c)]; CRD: [n, h, w, (c, i, j)]. */
static mslite_status prepare_depth(const mslite_node *node, int64_t b, bool to_space, bool channel_first,
                                   mslite_copy *copy, mslite_schedule *schedule) {
  const mslite_tensor *space = to_space ? node->outputs[0] : node->inputs[0];
  const int64_t height = space->dims[1] / b;
  const int64_t width = space->dims[2] / b;
  const int64_t c = space->dims[3];
  const int64_t deep = c * b * b;
  const int64_t sizes[6] = {space->dims[0], height, b, width, b, c};
  const int64_t in_space[6] = {height * width * deep, b * width * b * c, width * b * c, b * c, c, 1};
  const int64_t in_depth[6] = {height * width * deep,     width * deep,
                               channel_first ? b : b * c, deep,
                               channel_first ? 1 : c,     channel_first ? b * b : 1};
  mslite_copy_begin(copy, mslite_type_size(space->type));
  for (int32_t i = 0; i < 6; ++i) {
    mslite_copy_dimension(copy, sizes[i], to_space ? in_depth[i] : in_space[i], to_space ? in_space[i] : in_depth[i]);
  }
  return mslite_schedule_copy(copy, schedule);
}

static mslite_status depth_to_space_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_DepthToSpace *attributes = node->params;
  const char *mode = attributes->mode;
  const bool channel_first = mode != NULL && strcmp(mode, "CRD") == 0;
  if (mode != NULL && mode[0] != '\0' && !channel_first && strcmp(mode, "DCR") != 0) return MSLITE_ERROR_ATTRIBUTE;
  return prepare_depth(node, attributes->block_size, true, channel_first, derived, schedule);
}

static mslite_status space_to_depth_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_SpaceToDepth *attributes = node->params;
  return prepare_depth(node, attributes->block_size, false, false, derived, schedule);
}

/* A row consists of the dimensions after the blocks. */
typedef struct {
  mslite_block_plan plan;
  int32_t to_space;
  int32_t fill; /* byte value of the padding */
  int64_t in[MSLITE_MAX_RANK];
  int64_t out[MSLITE_MAX_RANK];
  int64_t row_bytes, rows, rows_per_part;
} batch_derived;

static mslite_status batch_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  batch_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  if (!mslite_plan_blocks(node->op, node->params, node->inputs, node->input_count, &numbers->plan))
    return MSLITE_ERROR_ATTRIBUTE;
  if (numbers->plan.count < 0 || numbers->plan.count >= x->rank) return MSLITE_ERROR_SHAPE;
  numbers->to_space = node->op == MSLITE_OP_BatchToSpace || node->op == MSLITE_OP_BatchToSpaceND;
  if (x->type == MSLITE_INT8 && x->quant_count > 0) numbers->fill = x->quant[0].zero_point;
  numbers->row_bytes = mslite_type_size(x->type);
  numbers->rows = 1;
  for (int32_t i = 0; i < x->rank; ++i) {
    numbers->in[i] = x->dims[i];
    numbers->out[i] = y->dims[i];
    if (i <= numbers->plan.count) {
      numbers->rows *= y->dims[i];
    } else {
      numbers->row_bytes *= y->dims[i];
    }
  }
  if (numbers->row_bytes == 0) numbers->rows = 0;
  numbers->rows_per_part = numbers->row_bytes == 0 || numbers->row_bytes > MSLITE_COPY_PART_BYTES
                               ? 1
                               : MSLITE_COPY_PART_BYTES / numbers->row_bytes;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

/* Returns the input row of output row `row`, or -1 for padding. */
static int64_t source_row(const batch_derived *numbers, int64_t row) {
  const mslite_block_plan *plan = &numbers->plan;
  int64_t at[MSLITE_MAX_RANK];
  for (int32_t i = plan->count; i > 0; --i) {
    at[i] = row % numbers->out[i];
    row /= numbers->out[i];
  }
  int64_t source = 0;
  if (numbers->to_space) {
    int64_t block = 0;
    for (int32_t i = 1; i <= plan->count; ++i) {
      at[i] += plan->before[i - 1];
      block = block * plan->block[i - 1] + at[i] % plan->block[i - 1];
      at[i] /= plan->block[i - 1];
    }
    source = block * numbers->out[0] + row;
  } else {
    int64_t block = row / numbers->in[0];
    source = row % numbers->in[0];
    for (int32_t i = plan->count; i > 0; --i) {
      at[i] = at[i] * plan->block[i - 1] + block % plan->block[i - 1] - plan->before[i - 1];
      block /= plan->block[i - 1];
      if (at[i] < 0 || at[i] >= numbers->in[i]) return -1;
    }
  }
  for (int32_t i = 1; i <= plan->count; ++i) source = source * numbers->in[i] + at[i];
  return source;
}

static void batch_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const batch_derived *numbers = run->derived;
  const size_t bytes = (size_t)numbers->row_bytes;
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  for (; row < end; ++row) {
    const int64_t source = source_row(numbers, row);
    char *to = (char *)run->outputs[0] + row * numbers->row_bytes;
    if (source < 0) {
      memset(to, numbers->fill, bytes);
    } else {
      memcpy(to, (const char *)run->inputs[0] + source * numbers->row_bytes, bytes);
    }
  }
}

MSLITE_MOVEMENT_KERNEL(depth_to_space, DepthToSpace, mslite_copy, mslite_copies_elements, depth_to_space_prepare,
                       mslite_run_copy, NULL)
MSLITE_MOVEMENT_KERNEL(space_to_depth, SpaceToDepth, mslite_copy, mslite_copies_elements, space_to_depth_prepare,
                       mslite_run_copy, NULL)

#define BATCH(name, operator) \
  MSLITE_MOVEMENT_KERNEL(name, operator, batch_derived, mslite_copies_elements, batch_prepare, batch_run, NULL)

BATCH(batch_to_space, BatchToSpace)
BATCH(batch_to_space_nd, BatchToSpaceND)
BATCH(space_to_batch, SpaceToBatch)
BATCH(space_to_batch_nd, SpaceToBatchND)

/* Padding is the zero point, whose bytes must all be equal. */
static int32_t stored_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  if (!mslite_copies_elements(node) || !mslite_is_quantized(node->outputs[0], x->type)) return 0;
  return mslite_is_quantized(x, MSLITE_INT8) || (mslite_is_quantized(x, MSLITE_INT16) && x->quant->zero_point == 0);
}

#define STORED_BATCH(name, operator) \
  MSLITE_QUANTIZED_KERNEL(name, operator, batch_derived, stored_support, batch_prepare, batch_run, NULL)

STORED_BATCH(space_to_batch_int8, SpaceToBatch)
STORED_BATCH(space_to_batch_nd_int8, SpaceToBatchND)
