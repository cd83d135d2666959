/* Reads blocks and margins of SpaceToBatch(ND) and BatchToSpace(ND). */
#include "rearrange/block_plan.h"

static bool from_attributes(const mslite_longs *block, const mslite_vec2d *margins, mslite_block_plan *plan) {
  if (block->count < 1 || block->count >= MSLITE_MAX_RANK) return false;
  if (margins->count != 0 && margins->count != block->count) return false;
  plan->count = block->count;
  for (int32_t i = 0; i < plan->count; ++i) {
    plan->block[i] = block->at[i];
    plan->before[i] = plan->after[i] = 0;
    if (margins->count == 0) continue;
    if (margins->at[i].count != 2) return false;
    plan->before[i] = margins->at[i].at[0];
    plan->after[i] = margins->at[i].at[1];
  }
  return true;
}

static bool from_inputs(const mslite_tensor *const *inputs, mslite_block_plan *plan) {
  int64_t margins[2 * MSLITE_MAX_RANK];
  int32_t count;
  int32_t pairs;
  plan->count = -1;
  if (!mslite_read_known_entries(inputs[1], plan->block, MSLITE_MAX_RANK - 1, &count)) return true;
  if (!mslite_read_known_entries(inputs[2], margins, 2 * MSLITE_MAX_RANK, &pairs)) return true;
  if (count < 1 || pairs != 2 * count) return false;
  plan->count = count;
  for (int32_t i = 0; i < count; ++i) {
    plan->before[i] = margins[2 * i];
    plan->after[i] = margins[2 * i + 1];
  }
  return true;
}

bool mslite_plan_blocks(int32_t op, const void *params, const mslite_tensor *const *inputs, int32_t input_count,
                        mslite_block_plan *plan) {
  bool read;
  if (input_count > 2) {
    read = from_inputs(inputs, plan);
  } else {
    switch (op) {
      case MSLITE_OP_BatchToSpace:
        read = from_attributes(&((const mslite_BatchToSpace *)params)->block_size,
                               &((const mslite_BatchToSpace *)params)->crops, plan);
        break;
      case MSLITE_OP_BatchToSpaceND:
        read = from_attributes(&((const mslite_BatchToSpaceND *)params)->block_shape,
                               &((const mslite_BatchToSpaceND *)params)->crops, plan);
        break;
      case MSLITE_OP_SpaceToBatch:
        read = from_attributes(&((const mslite_SpaceToBatch *)params)->block_size,
                               &((const mslite_SpaceToBatch *)params)->paddings, plan);
        break;
      default:
        read = from_attributes(&((const mslite_SpaceToBatchND *)params)->block_shape,
                               &((const mslite_SpaceToBatchND *)params)->paddings, plan);
    }
  }
  for (int32_t i = 0; read && i < plan->count; ++i) {
    read = plan->block[i] >= 1 && plan->block[i] <= INT32_MAX && plan->before[i] >= 0 && plan->after[i] >= 0 &&
           plan->before[i] <= INT32_MAX && plan->after[i] <= INT32_MAX;
  }
  return read;
}
