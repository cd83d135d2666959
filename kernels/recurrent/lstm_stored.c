/* Operands of LSTMs on quantized integers. */
#include "recurrent/lstm_stored.h"

#include <string.h>

#include "quantized.h"

mslite_lstm_places mslite_lstm_places_of(const mslite_node *node) {
  const mslite_LSTMSequence *a = node->params;
  mslite_lstm_places at;
  int32_t next = 3;
  at.bias = a->has_bias ? next++ : -1;
  at.hidden = a->has_initial_hidden ? next++ : -1;
  at.cell = a->has_initial_cell ? next++ : -1;
  at.peepholes = a->has_peepholes ? next++ : -1;
  at.projection = a->has_projection ? next++ : -1;
  at.projection_bias = a->has_projection_bias ? next++ : -1;
  at.normalization = a->has_normalization ? next++ : -1;
  at.count = next;
  return at;
}

bool mslite_lstm_is_weight(const mslite_tensor *tensor, int32_t type, int64_t count) {
  if (tensor->type != type || tensor->data == NULL || (tensor->quant_count != 1 && tensor->quant_count != count))
    return false;
  for (int32_t i = 0; i < tensor->quant_count; ++i) {
    if (!(tensor->quant[i].scale > 0) || tensor->quant[i].zero_point != 0) return false;
  }
  return true;
}

static bool is_bias(const mslite_node *node, int32_t index, int64_t count) {
  const mslite_tensor *bias = node->inputs[index];
  return bias->type == MSLITE_INT32 && bias->data != NULL && mslite_element_count(bias) == count;
}

int32_t mslite_lstm_power_of(double scale) {
  int32_t power = 0;
  while (scale < 1 && power > -31) {
    scale *= 2;
    --power;
  }
  return scale == 1 ? power : 1;
}

bool mslite_lstm_is_stored(const mslite_node *node, bool wide) {
  const mslite_LSTMSequence *a = node->params;
  const mslite_lstm_places at = mslite_lstm_places_of(node);
  if (a->has_sequence_lengths || a->direction != NULL || a->activations != NULL || a->clip != 0 || a->input_forget)
    return false;
  if (node->input_count != at.count || node->output_count != 3 || !a->has_bias) return false;
  const mslite_tensor *w = node->inputs[1], *r = node->inputs[2];
  if (!mslite_is_quantized(node->inputs[0], MSLITE_INT8) || !mslite_is_quantized(node->outputs[0], MSLITE_INT8))
    return false;
  if (!mslite_is_quantized(node->outputs[1], MSLITE_INT8) || !mslite_is_quantized(node->outputs[2], MSLITE_INT16))
    return false;
  if (w->data == NULL || r->data == NULL || w->rank != 3 || r->rank != 3) return false;
  const int64_t rows = w->dims[1], cells = rows / LSTM_GATES, state = r->dims[2];
  if (w->dims[0] != 1 || r->dims[0] != 1 || rows % LSTM_GATES != 0 || r->dims[1] != rows) return false;
  if (!mslite_lstm_is_weight(w, MSLITE_INT8, rows) || !mslite_lstm_is_weight(r, MSLITE_INT8, rows)) return false;
  if (!is_bias(node, at.bias, 2 * rows)) return false;
  if (at.hidden >= 0 && !mslite_is_quantized(node->inputs[at.hidden], MSLITE_INT8)) return false;
  if (at.cell >= 0 && !mslite_is_quantized(node->inputs[at.cell], MSLITE_INT16)) return false;
  if (at.peepholes >= 0 && (!wide || !mslite_lstm_is_weight(node->inputs[at.peepholes], MSLITE_INT16, 3 * cells)))
    return false;
  if (at.peepholes >= 0 && state != cells) return false; /* the reference mixes up sequences in this case */
  if (at.projection >= 0 && !mslite_lstm_is_weight(node->inputs[at.projection], MSLITE_INT8, 1)) return false;
  if (at.projection_bias >= 0 && !is_bias(node, at.projection_bias, state)) return false;
  return at.normalization < 0 || mslite_lstm_is_weight(node->inputs[at.normalization], MSLITE_INT16, rows);
}

float mslite_lstm_scale_of(const mslite_tensor *tensor, int64_t unit) {
  return (float)tensor->quant[tensor->quant_count > 1 ? unit : 0].scale;
}

bool mslite_lstm_has_unit_scales(const mslite_tensor *tensor, int64_t units) {
  for (int32_t i = 1; i < tensor->quant_count; ++i) {
    const float own = mslite_lstm_scale_of(tensor, i), before = mslite_lstm_scale_of(tensor, i - 1);
    if (i % units != 0 && (own < before || own > before)) return true;
  }
  return false;
}

int32_t mslite_lstm_steps(float bound, float scale, int32_t most) {
  const float steps = bound / scale;
  return bound > 0 ? (int32_t)(steps > (float)most ? (float)most : steps) : 0;
}

static int64_t rows_of(const mslite_tensor *weight) { return weight->dims[weight->rank - 2]; }

int64_t mslite_lstm_pack_size(const mslite_tensor *weight, bool by_row) {
  const int64_t numbers = sizeof(int32_t) + (by_row ? sizeof(int32_t) + sizeof(int8_t) : 0);
  return rows_of(weight) * numbers + mslite_element_count(weight);
}

void mslite_lstm_pack(const mslite_node *node, int32_t weight, const int32_t *bias, int32_t zero,
                      mslite_lstm_factor_of factor_of, const int8_t *rows, void *packed) {
  const mslite_tensor *tensor = node->inputs[weight];
  const int64_t count = rows_of(tensor), columns = tensor->dims[tensor->rank - 1];
  int32_t *start = packed, *value = start + count;
  int8_t *shift = (int8_t *)(value + (factor_of == NULL ? 0 : count));
  for (int64_t r = 0; r < count; ++r) {
    int32_t sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += rows[r * columns + c];
    start[r] = (int32_t)((uint32_t)(bias == NULL ? 0 : bias[r]) + (uint32_t)sum * (uint32_t)zero);
    if (factor_of == NULL) continue;
    const mslite_multiplier factor = factor_of(node, weight, r);
    value[r] = factor.value;
    shift[r] = (int8_t)factor.shift;
  }
  memcpy(shift + (factor_of == NULL ? 0 : count), rows, (size_t)(count * columns));
}

bool mslite_lstm_frame_of(const mslite_node *node, mslite_lstm_frame *frame) {
  mslite_recurrent_plan *plan = &frame->plan;
  if (mslite_plan_recurrent(node->op, node->params, node->inputs, node->input_count, plan) != NULL) return false;
  frame->x_time = plan->batch_first ? plan->input : plan->batch * plan->input;
  frame->x_batch = plan->batch_first ? plan->time * plan->input : plan->input;
  frame->y_time = plan->batch_first ? plan->state : plan->batch * plan->state;
  frame->y_batch = plan->batch_first ? plan->time * plan->state : plan->state;
  return plan->batch <= INT32_MAX;
}

void mslite_lstm_begin(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int32_t zero,
                       int8_t *hidden, int16_t *cell) {
  const mslite_recurrent_plan *plan = &frame->plan;
  memset(hidden, zero, (size_t)plan->state);
  memset(cell, 0, (size_t)plan->hidden * sizeof *cell);
  if (plan->initial_hidden >= 0)
    memcpy(hidden, (const int8_t *)run->inputs[plan->initial_hidden] + part * plan->state, (size_t)plan->state);
  if (plan->initial_cell >= 0)
    memcpy(cell, (const int16_t *)run->inputs[plan->initial_cell] + part * plan->hidden,
           (size_t)plan->hidden * sizeof *cell);
}

const int8_t *mslite_lstm_input(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int64_t step) {
  return (const int8_t *)run->inputs[0] + part * frame->x_batch + step * frame->x_time;
}

void mslite_lstm_result(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int64_t step,
                        const int8_t *hidden) {
  memcpy((int8_t *)run->outputs[0] + part * frame->y_batch + step * frame->y_time, hidden, (size_t)frame->plan.state);
}

void mslite_lstm_end(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, const int8_t *hidden,
                     const int16_t *cell) {
  const mslite_recurrent_plan *plan = &frame->plan;
  memcpy((int8_t *)run->outputs[1] + part * plan->state, hidden, (size_t)plan->state);
  memcpy((int16_t *)run->outputs[2] + part * plan->hidden, cell, (size_t)plan->hidden * sizeof *cell);
}

static int16_t scaled_product(int16_t a, int16_t b, int32_t shift) {
  return (int16_t)(uint16_t)(uint32_t)mslite_divide_by_power((int32_t)a * b, shift);
}

void mslite_lstm_update_cell(const int16_t *input, const int16_t *forget, const int16_t *candidate, int64_t count,
                             int32_t shift, int32_t clip, int16_t *cell) {
  for (int64_t i = 0; i < count; ++i) {
    const int16_t kept = scaled_product(forget[i], cell[i], 15);
    const int16_t share = input == NULL ? (int16_t)(INT16_MAX - forget[i]) : input[i];
    cell[i] = (int16_t)mslite_clamp(kept + scaled_product(share, candidate[i], 30 + shift), INT16_MIN, INT16_MAX);
    if (clip > 0) cell[i] = (int16_t)mslite_clamp(cell[i], -clip, clip);
  }
}
