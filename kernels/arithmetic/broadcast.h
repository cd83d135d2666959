/* Walks over an elementwise operation whose operands broadcast, row by row of adjacent output elements. */
#ifndef MSLITE_BROADCAST_H
#define MSLITE_BROADCAST_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MSLITE_BROADCAST_PART = 16384, MSLITE_BROADCAST_OPERANDS = 3 };

/* The output's dimensions, joined wherever every operand runs on; strides in elements, 0 where an operand repeats. */
typedef struct {
  int64_t count;
  int32_t rank; /* at least 1 */
  int32_t operand_count;
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[MSLITE_BROADCAST_OPERANDS][MSLITE_MAX_RANK];
} mslite_broadcast_plan;

/* Plans for operands whose shapes broadcast to that of `output`, and cuts the work into parts. */
void mslite_plan_broadcast(const mslite_tensor *output, const mslite_tensor *const *operands, int32_t operand_count,
                           mslite_broadcast_plan *plan, mslite_schedule *schedule);

typedef struct {
  int64_t at; /* first output element of the row */
  int64_t end;
  int64_t offset[MSLITE_BROADCAST_OPERANDS];
  int64_t index[MSLITE_MAX_RANK];
} mslite_broadcast_cursor;

/* Stands before the first row of `part`. */
void mslite_broadcast_begin(const mslite_broadcast_plan *plan, int32_t part, mslite_broadcast_cursor *cursor);

/* The length of the row at cursor->at, cursor->offset; 0 at the end. Call mslite_broadcast_next with it afterwards. */
int64_t mslite_broadcast_row(const mslite_broadcast_plan *plan, const mslite_broadcast_cursor *cursor);
void mslite_broadcast_next(const mslite_broadcast_plan *plan, int64_t length, mslite_broadcast_cursor *cursor);

/* The input that has the output's shape and type, so that the output may overwrite it; -1 when there is none. */
int32_t mslite_broadcast_in_place(const mslite_node *node);

#ifdef __cplusplus
}
#endif

#endif
