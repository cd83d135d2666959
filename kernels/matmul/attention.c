/* Attention: q, k and v times their weights, softmax(scale * q k' + added + mask) v per head, times the output's
 * weight.
 *
 * With relative positions (Transformer-XL) the scores are ((q + u) k' + shifted((q + v) p')) / sqrt(size), where
 * `shifted` reads element queries + row * positions + column of the rows, each followed by a zero. Masked scores
 * (mask 0) are decreased by 10000. */
#include "matmul/attention.h"

#include <math.h>
#include <string.h>

#include "math/scalar_math.h"

static int32_t attention_support(const mslite_node *node) {
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  mslite_attention_operands operands;
  return mslite_attention_read(node->inputs, node->input_count, ((const mslite_Attention *)node->params)->cross,
                               &operands);
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

static void project(const mslite_run *run, const mslite_attention_plan *n, int64_t part) {
  int32_t which = 0;
  for (; part >= mslite_attention_blocks(n->projections[which].rows); ++which)
    part -= mslite_attention_blocks(n->projections[which].rows);
  const mslite_projection *p = &n->projections[which];
  const float *weight = (const float *)run->inputs[p->weight] + p->first;
  const float *bias = p->bias < 0 ? NULL : (const float *)run->inputs[p->bias] + p->bias_first;
  const int64_t end = (part + 1) * MSLITE_ATTENTION_ROWS < p->rows ? (part + 1) * MSLITE_ATTENTION_ROWS : p->rows;
  for (int64_t row = part * MSLITE_ATTENTION_ROWS; row < end; ++row) {
    multiply_row((const float *)run->inputs[p->input] + row * p->in, p->in, weight, p->width, bias,
                 (float *)run->shared + p->at + row * n->hidden, n->hidden);
  }
}

/* Returns (x + own) y of one head. */
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

/* Computes all rows of one head of one batch. */
static void attend(const mslite_run *run, const mslite_attention_plan *n, int64_t batch, int64_t head) {
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
  float *padded = scores + n->keys; /* the products with the positions, with a zero after each row */
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

/* Writes the projected keys [batch, heads, size, keys] and values [batch, heads, keys, size] if they are outputs. */
static void give_keys(const mslite_run *run, const mslite_attention_plan *n, int64_t batch, int64_t head) {
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

static void finish(const mslite_run *run, const mslite_attention_plan *n, int64_t part) {
  const mslite_attention_operands *o = &n->operands;
  const float *weight = run->inputs[o->weight_out];
  const float *bias = o->bias_out < 0 ? NULL : run->inputs[o->bias_out];
  const int64_t rows = n->batch * n->queries;
  const int64_t end = (part + 1) * MSLITE_ATTENTION_ROWS < rows ? (part + 1) * MSLITE_ATTENTION_ROWS : rows;
  for (int64_t row = part * MSLITE_ATTENTION_ROWS; row < end; ++row) {
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
  const mslite_attention_plan *n = run->derived;
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
    .derived_size = sizeof(mslite_attention_plan),
    .support = attention_support,
    .prepare = mslite_attention_prepare,
    .run = attention_run,
};
