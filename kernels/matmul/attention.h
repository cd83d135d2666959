/* The variants of MindSpore Lite's Attention, distinguished by the number and the ranks of the operands. */
#ifndef MSLITE_ATTENTION_H
#define MSLITE_ATTENTION_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices of the operands; -1: absent. */
typedef struct {
  int32_t weight_q, weight_k, weight_v; /* the same index if one weight contains all three */
  int32_t weight_out, bias_qkv, bias_q, bias_k, bias_v, bias_out;
  int32_t added;                                     /* [1 or batch, heads, q rows, k rows], added to the scores */
  int32_t mask;                                      /* [batch, q rows, k rows]: 1 to attend, 0 to mask */
  int32_t positions, weight_positions, own_u, own_v; /* relative positions */
} mslite_attention_operands;

/* Returns false if there are too few or too many operands. */
bool mslite_attention_read(const mslite_tensor *const *inputs, int32_t input_count, bool cross,
                           mslite_attention_operands *operands);

enum { MSLITE_ATTENTION_ROWS = 16 }; /* per part */

/* A matmul of rows with columns [first, first + hidden) of a weight. */
typedef struct {
  int32_t input, weight, bias;
  int64_t rows, in, first, width; /* rows of all batches; `width`: columns of the whole weight */
  int64_t bias_first;
  int64_t at; /* offset of the result in the shared workspace */
} mslite_projection;

typedef struct {
  int64_t batch, queries, keys, positions, heads, size, hidden, out;
  mslite_projection projections[4]; /* q, k, v, positions */
  mslite_attention_operands operands;
  int64_t context; /* in the shared workspace */
  int64_t added_batch, position_batch;
  float scale;
  int32_t outputs;
  bool out_transposed;
} mslite_attention_plan;

/* Returns the number of parts for these rows. */
int64_t mslite_attention_blocks(int64_t rows);

/* Computes sizes, projections and the added operands, for the kernel. */
mslite_status mslite_attention_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
