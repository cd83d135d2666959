/* Attention: q, k and v times their weights, softmax(scale * q k' + added + mask) v per head, times the output's
 * weight.
 *
 * With relative positions (Transformer-XL) the products are ((q + u) k' + shifted((q + v) p')) / sqrt(size), where
 * `shifted` takes element queries + row * positions + column of the rows with a zero behind each. Where a row may not
 * look (mask 0), -10000 is added. */
#include "matmul/attention.h"

#include <math.h>
#include <string.h>

#include "math/scalar_math.h"

enum { ROWS = 16 };

/* One product of rows with columns [first, first + hidden) of a weight. */
typedef struct {
  int32_t input, weight, bias;
  int64_t rows, in, first, width; /* rows of all batches; `width`: columns of the whole weight */
  int64_t bias_first;
  int64_t at; /* of the result in the shared space */
} projection;

typedef struct {
  int64_t batch, queries, keys, positions, heads, size, hidden, out;
  projection projections[4]; /* q, k, v, positions */
  mslite_attention_operands operands;
  int64_t context; /* in the shared space */
  int64_t added_batch, position_batch;
  float scale;
  int32_t outputs;
  bool out_transposed;
} attention_derived;

static int32_t attention_support(const mslite_node *node) {
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  mslite_attention_operands operands;
  return mslite_attention_read(node->inputs, node->input_count, ((const mslite_Attention *)node->params)->cross,
                               &operands);
}

/* Rows of all batches, and columns. */
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

/* Heads, hidden size and the four projections. */
static bool read_projections(const mslite_node *node, attention_derived *n) {
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
    projection *p = &n->projections[i];
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

/* What is added to the products. */
static bool read_additions(const mslite_node *node, attention_derived *n) {
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

static int64_t blocks(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

static mslite_status attention_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Attention *attributes = node->params;
  attention_derived *n = derived;
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
  for (int32_t i = 0; i < 4; ++i) projected += blocks(n->projections[i].rows);
  const int64_t heads = n->batch * n->heads, ends = blocks(n->batch * n->queries);
  if (projected > INT32_MAX || heads > INT32_MAX || ends > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 3;
  schedule->part_count[0] = (int32_t)projected;
  schedule->part_count[1] = (int32_t)heads;
  schedule->part_count[2] = (int32_t)ends;
  schedule->shared_bytes = (n->context + n->batch * n->queries * n->hidden) * (int64_t)sizeof(float);
  schedule->scratch_bytes = (n->keys + n->queries * (n->positions + 1)) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* y[hidden] = bias + x[in] times a weight whose rows are `width` apart. */
static void multiply_row(const float *x, int64_t in, const float *weight, int64_t width, const float *bias, float *y,
                         int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) y[j] = bias == NULL ? 0 : bias[j];
  for (int64_t i = 0; i < in; ++i) {
    const float factor = x[i];
    const float *row = weight + i * width;
    for (int64_t j = 0; j < columns; ++j) y[j] += factor * row[j];
  }
}

static void project(const mslite_run *run, const attention_derived *n, int64_t part) {
  int32_t which = 0;
  for (; part >= blocks(n->projections[which].rows); ++which) part -= blocks(n->projections[which].rows);
  const projection *p = &n->projections[which];
  const float *weight = (const float *)run->inputs[p->weight] + p->first;
  const float *bias = p->bias < 0 ? NULL : (const float *)run->inputs[p->bias] + p->bias_first;
  const int64_t end = (part + 1) * ROWS < p->rows ? (part + 1) * ROWS : p->rows;
  for (int64_t row = part * ROWS; row < end; ++row) {
    multiply_row((const float *)run->inputs[p->input] + row * p->in, p->in, weight, p->width, bias,
                 (float *)run->shared + p->at + row * n->hidden, n->hidden);
  }
}

/* (x + own) y, of one head. */
static float dot(const float *x, const float *own, const float *y, int64_t size) {
  float sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += (own == NULL ? x[i] : x[i] + own[i]) * y[i];
  return sum;
}

static void softmax(float *x, int64_t count) {
  float most = -INFINITY;
  for (int64_t i = 0; i < count; ++i) most = x[i] > most ? x[i] : most;
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] = (float)mslite_exp((double)(x[i] - most));
  for (int64_t i = 0; i < count; ++i) x[i] /= sum;
}

/* All rows of one head of one batch. */
static void attend(const mslite_run *run, const attention_derived *n, int64_t batch, int64_t head) {
  const mslite_attention_operands *o = &n->operands;
  const float *shared = run->shared;
  const float *q = shared + n->projections[0].at + batch * n->queries * n->hidden + head * n->size;
  const float *k = shared + n->projections[1].at + batch * n->keys * n->hidden + head * n->size;
  const float *v = shared + n->projections[2].at + batch * n->keys * n->hidden + head * n->size;
  const float *u = o->own_u < 0 ? NULL : (const float *)run->inputs[o->own_u] + head * n->size;
  const float *own = o->own_v < 0 ? NULL : (const float *)run->inputs[o->own_v] + head * n->size;
  const float *added =
      o->added < 0 ? NULL : (const float *)run->inputs[o->added] + batch * n->added_batch + head * n->queries * n->keys;
  const float *mask = o->mask < 0 ? NULL : (const float *)run->inputs[o->mask] + batch * n->queries * n->keys;
  float *scores = run->scratch;
  float *padded = scores + n->keys; /* the products with the positions, a zero behind each row */
  for (int64_t row = 0; own != NULL && row < n->queries; ++row) {
    const int64_t from = n->position_batch == 1 ? 0 : batch * n->positions;
    const float *p = shared + n->projections[3].at + from * n->hidden + head * n->size;
    float *line = padded + row * (n->positions + 1);
    for (int64_t i = 0; i < n->positions; ++i) line[i] = dot(q + row * n->hidden, own, p + i * n->hidden, n->size);
    line[n->positions] = 0;
  }
  for (int64_t row = 0; row < n->queries; ++row) {
    for (int64_t i = 0; i < n->keys; ++i) {
      float score = dot(q + row * n->hidden, u, k + i * n->hidden, n->size);
      if (own != NULL) score += padded[n->queries + row * n->positions + i];
      score *= n->scale;
      if (added != NULL) score += added[row * n->keys + i];
      if (mask != NULL) score += (1 - mask[row * n->keys + i]) * -10000.0F;
      scores[i] = score;
    }
    softmax(scores, n->keys);
    float *to = (float *)run->shared + n->context + (batch * n->queries + row) * n->hidden + head * n->size;
    multiply_row(scores, n->keys, v, n->hidden, NULL, to, n->size);
  }
}

/* The projected keys [batch, heads, size, keys] and values [batch, heads, keys, size], where they are outputs. */
static void give_keys(const mslite_run *run, const attention_derived *n, int64_t batch, int64_t head) {
  const int64_t area = (batch * n->heads + head) * n->size * n->keys;
  const float *from = (const float *)run->shared + batch * n->keys * n->hidden + head * n->size;
  for (int64_t i = 0; n->outputs > 1 && i < n->keys; ++i) {
    for (int64_t j = 0; j < n->size; ++j) {
      ((float *)run->outputs[1])[area + j * n->keys + i] = from[n->projections[1].at + i * n->hidden + j];
      if (n->outputs > 2)
        ((float *)run->outputs[2])[area + i * n->size + j] = from[n->projections[2].at + i * n->hidden + j];
    }
  }
}

static void finish(const mslite_run *run, const attention_derived *n, int64_t part) {
  const mslite_attention_operands *o = &n->operands;
  const float *weight = run->inputs[o->weight_out];
  const float *bias = o->bias_out < 0 ? NULL : run->inputs[o->bias_out];
  const int64_t rows = n->batch * n->queries;
  const int64_t end = (part + 1) * ROWS < rows ? (part + 1) * ROWS : rows;
  for (int64_t row = part * ROWS; row < end; ++row) {
    const float *x = (const float *)run->shared + n->context + row * n->hidden;
    float *y = (float *)run->outputs[0] + row * n->out;
    if (!n->out_transposed) {
      multiply_row(x, n->hidden, weight, n->out, bias, y, n->out);
      continue;
    }
    for (int64_t j = 0; j < n->out; ++j)
      y[j] = (bias == NULL ? 0 : bias[j]) + dot(x, NULL, weight + j * n->hidden, n->hidden);
  }
}

static void attention_run(const mslite_run *run, int32_t phase, int32_t part) {
  const attention_derived *n = run->derived;
  if (phase == 0) project(run, n, part);
  if (phase == 1) {
    attend(run, n, part / n->heads, part % n->heads);
    give_keys(run, n, part / n->heads, part % n->heads);
  }
  if (phase == 2) finish(run, n, part);
}

const mslite_kernel mslite_kernel_attention = {
    .name = "attention_scalar",
    .op = MSLITE_OP_Attention,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(attention_derived),
    .support = attention_support,
    .prepare = attention_prepare,
    .run = attention_run,
};
