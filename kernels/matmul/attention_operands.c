/* Identifies the operands of Attention, and plans its work. */
#include "matmul/attention.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, FIRST, RELATIVE = 11, RELATIVE_BIAS = 15 };

static const mslite_attention_operands NONE = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

bool mslite_attention_read(const mslite_tensor *const *inputs, int32_t input_count, bool cross,
                           mslite_attention_operands *operands) {
  *operands = NONE;
  if (input_count == RELATIVE || input_count == RELATIVE_BIAS) {
    operands->positions = 3;
    operands->weight_q = 4;
    operands->weight_k = 5;
    operands->weight_v = 6;
    operands->weight_positions = 7;
    operands->own_u = 8;
    operands->own_v = 9;
    operands->weight_out = 10;
    if (input_count == RELATIVE_BIAS) {
      operands->bias_q = 11;
      operands->bias_k = 12;
      operands->bias_v = 13;
      operands->bias_out = 14;
    }
    return true;
  }
  int32_t next = FIRST;
  operands->weight_q = next;
  if (cross) ++next;
  operands->weight_k = operands->weight_v = next++;
  operands->weight_out = next++;
  if (input_count <= next) return false;
  const int32_t rank = inputs[next]->rank; /* unknown only during shape inference */
  if (rank == 1 || (rank < 0 && input_count - next > 1)) {
    operands->bias_qkv = next++;
    operands->bias_out = next++;
  } else {
    operands->added = next++;
  }
  if (input_count > next) operands->mask = next++;
  return input_count == next;
}

/* Returns the rows of all batches, and the columns. */
static bool matrix(const mslite_tensor *x, int64_t *batch, int64_t *rows, int64_t *columns) {
  if (x->rank != 2 && x->rank != 3) return false;
  *batch = x->rank == 3 ? x->dims[0] : 1;
  *rows = x->dims[x->rank - 2];
  *columns = x->dims[x->rank - 1];
  return true;
}

static bool has(const mslite_tensor *x, int64_t a, int64_t b) {
  return x->rank == 2 && x->dims[0] == a && x->dims[1] == b;
}

static bool counts(const mslite_node *node, int32_t input, int64_t count) {
  return input < 0 || mslite_element_count(node->inputs[input]) == count;
}

/* Reads the heads, the hidden size and the four projections. */
static bool read_projections(const mslite_node *node, mslite_attention_plan *n) {
  const mslite_Attention *attributes = node->params;
  const mslite_attention_operands *o = &n->operands;
  const bool relative = o->positions >= 0;
  if (relative) {
    const mslite_tensor *u = node->inputs[o->own_u];
    if (u->rank != 2) return false;
    n->heads = u->dims[0];
    n->size = u->dims[1];
  } else {
    n->heads = attributes->head_num;
    n->size = attributes->head_size;
  }
  if (n->heads < 1 || n->size < 1 || n->heads > INT32_MAX || n->size > INT32_MAX) return false;
  n->hidden = n->heads * n->size;
  const int32_t inputs[4] = {0, 1, 2, o->positions};
  const int32_t weights[4] = {o->weight_q, o->weight_k, o->weight_v, o->weight_positions};
  const int32_t biases[4] = {o->bias_q, o->bias_k, o->bias_v, -1};
  int64_t rows[4] = {0}, batches[4] = {0}, taken = 0;
  for (int32_t i = 0; i < (relative ? 4 : 3); ++i) {
    mslite_projection *p = &n->projections[i];
    p->input = inputs[i];
    p->weight = weights[i];
    p->bias = o->bias_qkv >= 0 ? o->bias_qkv : biases[i];
    p->bias_first = o->bias_qkv >= 0 ? i * n->hidden : 0;
    if (!matrix(node->inputs[p->input], &batches[i], &rows[i], &p->in)) return false;
    int64_t before = 0, all = 0; /* blocks of the weight */
    for (int32_t j = 0; j < 4; ++j) {
      if (weights[j] < 0 || weights[j] != weights[i]) continue;
      ++all;
      if (j < i) ++before;
    }
    p->first = before * n->hidden;
    p->width = all * n->hidden;
    if (!has(node->inputs[p->weight], p->in, p->width)) return false;
    p->rows = batches[i] * rows[i];
    p->at = taken;
    taken += p->rows * n->hidden;
  }
  n->context = taken;
  n->batch = batches[0];
  n->queries = rows[0];
  n->keys = rows[1];
  n->positions = rows[3];
  n->position_batch = batches[3];
  if (o->bias_qkv >= 0 && !counts(node, o->bias_qkv, 3 * n->hidden)) return false;
  for (int32_t i = 0; i < 3; ++i) {
    if (!counts(node, biases[i], n->hidden)) return false;
  }
  return batches[1] == n->batch && batches[2] == n->batch && rows[2] == n->keys;
}

/* Checks the operands that are added to the scores. */
static bool read_additions(const mslite_node *node, mslite_attention_plan *n) {
  const mslite_attention_operands *o = &n->operands;
  const int64_t area = n->queries * n->keys;
  if (o->positions >= 0 && !(n->positions / 2 == n->keys && (n->position_batch == 1 || n->position_batch == n->batch) &&
                             counts(node, o->own_u, n->hidden) && counts(node, o->own_v, n->hidden)))
    return false;
  if (o->added >= 0) {
    const int64_t count = mslite_element_count(node->inputs[o->added]);
    if (count != n->heads * area && count != n->batch * n->heads * area) return false;
    n->added_batch = count == n->heads * area ? 0 : n->heads * area;
  }
  return counts(node, o->mask, n->batch * area);
}

int64_t mslite_attention_blocks(int64_t rows) { return (rows + MSLITE_ATTENTION_ROWS - 1) / MSLITE_ATTENTION_ROWS; }

mslite_status mslite_attention_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Attention *attributes = node->params;
  mslite_attention_plan *n = derived;
  memset(n, 0, sizeof *n);
  n->outputs = node->output_count;
  if (!mslite_attention_read(node->inputs, node->input_count, attributes->cross, &n->operands))
    return MSLITE_ERROR_SHAPE;
  if (!read_projections(node, n) || !read_additions(node, n)) return MSLITE_ERROR_SHAPE;
  const mslite_tensor *out = node->inputs[n->operands.weight_out];
  if (out->rank != 2) return MSLITE_ERROR_SHAPE;
  n->out_transposed = out->dims[0] != n->hidden;
  if (out->dims[n->out_transposed ? 1 : 0] != n->hidden) return MSLITE_ERROR_SHAPE;
  n->out = out->dims[n->out_transposed ? 0 : 1];
  if (!counts(node, n->operands.bias_out, n->out)) return MSLITE_ERROR_SHAPE;
  n->scale = attributes->scale;
  if (n->operands.positions >= 0 || (n->scale == 0 && n->operands.added < 0))
    n->scale = (float)(1 / sqrt((double)n->size));
  else if (n->scale == 0)
    n->scale = 1;
  int64_t projected = 0;
  for (int32_t i = 0; i < 4; ++i) projected += mslite_attention_blocks(n->projections[i].rows);
  const int64_t heads = n->batch * n->heads, ends = mslite_attention_blocks(n->batch * n->queries);
  if (projected > INT32_MAX || heads > INT32_MAX || ends > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 3;
  schedule->part_count[0] = (int32_t)projected;
  schedule->part_count[1] = (int32_t)heads;
  schedule->part_count[2] = (int32_t)ends;
  schedule->shared_bytes = (n->context + n->batch * n->queries * n->hidden) * (int64_t)sizeof(float);
  schedule->scratch_bytes = (n->keys + n->queries * (n->positions + 1)) * (int64_t)sizeof(float);
  return MSLITE_OK;
}
