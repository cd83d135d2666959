/* Shape rules of the operators that move blocks between spatial dimensions, channels and batch. */
#include "rearrange/block_plan.h"
#include "shape/shape.h"

/* The spatial size times `block` and the channels divided by block * block, or the inverse. Images are NHWC. */
static mslite_status depth_and_space(mslite_shape_context *context, const mslite_tensor *x, int64_t block,
                                     bool to_space, mslite_tensor *y) {
  mslite_same_shape(x, y);
  if (block < 1 || block > INT32_MAX)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "block_size must be positive");
  if (x->rank < 0) return MSLITE_OK;
  if (x->rank != 4) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an image of 4 dimensions is needed");
  const int32_t height = 1;
  const int32_t channel = 3;
  bool divides = true;
  if (to_space) {
    y->dims[height] = mslite_size_multiply(context, x->dims[height], block);
    y->dims[height + 1] = mslite_size_multiply(context, x->dims[height + 1], block);
    divides = mslite_size_divide(context, x->dims[channel], block * block, &y->dims[channel]);
  } else {
    y->dims[channel] = mslite_size_multiply(context, x->dims[channel], block * block);
    divides = mslite_size_divide(context, x->dims[height], block, &y->dims[height]) &&
              mslite_size_divide(context, x->dims[height + 1], block, &y->dims[height + 1]);
  }
  if (!divides)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input is not divisible into blocks of %d", (int)block);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_depth_to_space) {
  (void)input_count, (void)output_count;
  const mslite_DepthToSpace *attributes = params;
  return depth_and_space(context, inputs[0], attributes->block_size, true, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_space_to_depth) {
  (void)input_count, (void)output_count;
  const mslite_SpaceToDepth *attributes = params;
  return depth_and_space(context, inputs[0], attributes->block_size, false, outputs[0]);
}

static mslite_status batch_and_space(mslite_shape_context *context, int32_t op, const void *params,
                                     const mslite_tensor *const *inputs, int32_t input_count, bool to_space,
                                     mslite_tensor *y) {
  const mslite_tensor *x = inputs[0];
  mslite_block_plan plan;
  y->type = x->type;
  y->rank = -1;
  if (!mslite_plan_blocks(op, params, inputs, input_count, &plan)) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "blocks and margins do not match");
  }
  if (x->rank < 0) return MSLITE_OK;
  if (plan.count < 0) {
    mslite_unknown_dims(context, x->rank, y);
    return MSLITE_OK;
  }
  mslite_same_shape(x, y);
  if (plan.count >= x->rank)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "there are more blocks than dimensions");
  int64_t blocks = 1;
  for (int32_t i = 0; i < plan.count; ++i) {
    const int64_t dim = x->dims[i + 1];
    const int64_t margin = plan.before[i] + plan.after[i];
    blocks = mslite_size_multiply(context, blocks, plan.block[i]);
    if (to_space) {
      y->dims[i + 1] = mslite_size_add(context, mslite_size_multiply(context, dim, plan.block[i]), -margin);
    } else if (!mslite_size_divide(context, mslite_size_add(context, dim, margin), plan.block[i], &y->dims[i + 1])) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d is not divisible into blocks", (int)i + 1);
    }
    if (y->dims[i + 1] < 0 && !mslite_is_symbol(y->dims[i + 1])) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "crops are larger than dimension %d", (int)i + 1);
    }
  }
  if (!to_space) {
    y->dims[0] = mslite_size_multiply(context, x->dims[0], blocks);
  } else if (!mslite_size_divide(context, x->dims[0], blocks, &y->dims[0])) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the batch is not divisible into %lld blocks",
                             (long long)blocks);
  }
  return MSLITE_OK;
}

#define BLOCK_RULE(name, operator, to_space)                                                                  \
  MSLITE_SHAPE_RULE(name) {                                                                                   \
    (void)output_count;                                                                                       \
    return batch_and_space(context, MSLITE_OP_##operator, params, inputs, input_count, to_space, outputs[0]); \
  }

BLOCK_RULE(mslite_shape_of_batch_to_space, BatchToSpace, true)
BLOCK_RULE(mslite_shape_of_batch_to_space_nd, BatchToSpaceND, true)
BLOCK_RULE(mslite_shape_of_space_to_batch, SpaceToBatch, false)
BLOCK_RULE(mslite_shape_of_space_to_batch_nd, SpaceToBatchND, false)
