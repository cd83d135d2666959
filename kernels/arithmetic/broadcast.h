/* Iterates over an element-wise operation with broadcast operands, by rows of contiguous output elements. */
#ifndef MSLITE_BROADCAST_H
#define MSLITE_BROADCAST_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MSLITE_BROADCAST_PART = 16384, MSLITE_BROADCAST_OPERANDS = 3 };

/* The output's dimensions, merged if all operands are contiguous; strides in elements, 0 if an operand repeats. */
typedef struct {
  int64_t count;
  int32_t rank; /* at least 1 */
  int32_t operand_count;
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[MSLITE_BROADCAST_OPERANDS][MSLITE_MAX_RANK];
} mslite_broadcast_plan;

/* Plans operands whose shapes broadcast to that of `output`, and divides the work into parts. */
void mslite_plan_broadcast(const mslite_tensor *output, const mslite_tensor *const *operands, int32_t operand_count,
                           mslite_broadcast_plan *plan, mslite_schedule *schedule);

typedef struct {
  int64_t at; /* first output element of the row */
  int64_t end;
  int64_t offset[MSLITE_BROADCAST_OPERANDS];
  int64_t index[MSLITE_MAX_RANK];
} mslite_broadcast_cursor;

/* Moves the cursor to the first row of `part`. */
void mslite_broadcast_begin(const mslite_broadcast_plan *plan, int32_t part, mslite_broadcast_cursor *cursor);

/* Returns the length of the row at cursor->at, cursor->offset; 0 at the end. Pass it to mslite_broadcast_next
 * afterwards. */
int64_t mslite_broadcast_row(const mslite_broadcast_plan *plan, const mslite_broadcast_cursor *cursor);
void mslite_broadcast_next(const mslite_broadcast_plan *plan, int64_t length, mslite_broadcast_cursor *cursor);

/* Returns the input with the output's shape and data type, which the output may overwrite; -1 if there is none. */
int32_t mslite_broadcast_in_place(const mslite_node *node);

#ifdef __cplusplus
}
#endif

#endif
