/* Blocks and margins of SpaceToBatch(ND) and BatchToSpace(ND), from inputs or attributes; for shape rules and
 * kernels. */
#ifndef MSLITE_BLOCK_PLAN_H
#define MSLITE_BLOCK_PLAN_H

#include "known_values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int32_t count; /* dimensions 1 .. count have blocks; -1: not known yet */
  int64_t block[MSLITE_MAX_RANK];
  int64_t before[MSLITE_MAX_RANK]; /* padding or crop */
  int64_t after[MSLITE_MAX_RANK];
} mslite_block_plan;

/* Reads the plan of one of the four operators. Returns false if attributes or inputs are invalid. */
bool mslite_plan_blocks(int32_t op, const void *params, const mslite_tensor *const *inputs, int32_t input_count,
                        mslite_block_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
