/* LSTMSequence on stored integers: int8 inputs, weights and hidden state, int16 cell state and gates, int32 biases.
 *
 * Arithmetic: TensorFlow Lite's reference kernels. A gate is the sum, in Q3.12 and cut to 16 bits after each term, of
 * the products of the input, of the hidden state and (peepholes) of the cell state; or, normalised, what their mean and
 * variance make of it. */
#include <string.h>

#include "math/fixed_functions.h"
#include "math/fixed_gates.h"
#include "movement.h"
#include "quantised.h"
#include "recurrent/recurrent_plan.h"

enum { GATES = 4, GATE_I = 0, GATE_O = 1, GATE_F = 2, GATE_C = 3 };

typedef struct {
  mslite_recurrent_plan plan;
  int64_t x_time, x_batch, y_time, y_batch; /* strides, in elements */
  mslite_multiplier input[GATES], hidden[GATES], peephole[GATES], norm[GATES];
  int32_t guard[GATES]; /* the variance that stands for none */
  mslite_multiplier output, projection;
  int32_t output_zero, state_zero;
  int32_t cell_shift; /* the cell state's scale is 2^cell_shift */
  int32_t cell_clip, projection_clip;
  bool input_is_rest;
} lstm_derived;

/* Weights are packed behind their rows' sums times the negative zero point of what they multiply, plus the bias. */
typedef struct {
  const int32_t *start;
  const int8_t *rows;
} packed_weights;

static packed_weights unpack(const void *packed, int64_t rows) {
  const packed_weights weights = {packed, (const int8_t *)packed + rows * (int64_t)sizeof(int32_t)};
  return weights;
}

static const mslite_LSTMSequence *attributes_of(const mslite_node *node) { return node->params; }

/* The operands' places, from the attributes alone. */
typedef struct {
  int32_t bias, hidden, cell, peepholes, projection, projection_bias, normalization, count;
} lstm_places;

static lstm_places places_of(const mslite_node *node) {
  const mslite_LSTMSequence *a = attributes_of(node);
  lstm_places at;
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

/* A constant with one record, or one for each of `count` units; all symmetric. */
static bool is_weight(const mslite_tensor *tensor, int32_t type, int64_t count) {
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

/* log2 of a scale that is a power of two; else 1. */
static int32_t power_of(double scale) {
  int32_t power = 0;
  while (scale < 1 && power > -31) {
    scale *= 2;
    --power;
  }
  return scale == 1 ? power : 1;
}

static int32_t support(const mslite_node *node) {
  const mslite_LSTMSequence *a = attributes_of(node);
  const lstm_places at = places_of(node);
  if (a->has_sequence_lengths || a->direction != NULL || a->activations != NULL || a->clip != 0 || a->input_forget)
    return 0;
  if (node->input_count != at.count || node->output_count != 3 || !a->has_bias || !(a->hidden_scale > 0)) return 0;
  const mslite_tensor *w = node->inputs[1], *r = node->inputs[2];
  if (!mslite_is_stored(node->inputs[0], MSLITE_INT8) || !mslite_is_stored(node->outputs[0], MSLITE_INT8)) return 0;
  if (!mslite_is_stored(node->outputs[1], MSLITE_INT8) || !mslite_is_stored(node->outputs[2], MSLITE_INT16)) return 0;
  if (w->data == NULL || r->data == NULL || w->rank != 3 || r->rank != 3) return 0;
  const int64_t rows = w->dims[1], cells = rows / GATES, state = r->dims[2];
  if (w->dims[0] != 1 || r->dims[0] != 1 || rows % GATES != 0 || r->dims[1] != rows) return 0;
  if (!is_weight(w, MSLITE_INT8, rows) || !is_weight(r, MSLITE_INT8, rows) || !is_bias(node, at.bias, 2 * rows))
    return 0;
  if (at.hidden >= 0 && !mslite_is_stored(node->inputs[at.hidden], MSLITE_INT8)) return 0;
  if (at.cell >= 0 && !mslite_is_stored(node->inputs[at.cell], MSLITE_INT16)) return 0;
  if (at.peepholes >= 0 && !is_weight(node->inputs[at.peepholes], MSLITE_INT16, 3 * cells)) return 0;
  if (at.peepholes >= 0 && state != cells) return 0; /* the reference mixes up sequences then */
  if (at.projection >= 0 && !is_weight(node->inputs[at.projection], MSLITE_INT8, 1)) return 0;
  if (at.projection_bias >= 0 && !is_bias(node, at.projection_bias, state)) return 0;
  if (at.normalization >= 0 && !is_weight(node->inputs[at.normalization], MSLITE_INT16, rows)) return 0;
  if (at.normalization >= 0 && a->gate_scales.count != GATES) return 0;
  const int32_t power = power_of(node->outputs[2]->quant->scale);
  return power >= -15 && power <= -9;
}

static float scale_of(const mslite_tensor *tensor, int64_t unit) {
  return (float)tensor->quant[tensor->quant_count > 1 ? unit : 0].scale;
}

static int32_t limited_steps(float real, float scale, int32_t most) {
  const float steps = real / scale;
  return real > 0 ? (int32_t)(steps > (float)most ? (float)most : steps) : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_LSTMSequence *a = attributes_of(node);
  lstm_derived *n = derived;
  memset(n, 0, sizeof *n);
  mslite_recurrent_plan *plan = &n->plan;
  if (mslite_plan_recurrent(node->op, node->params, node->inputs, node->input_count, plan) != NULL)
    return MSLITE_ERROR_SHAPE;
  n->x_time = plan->batch_first ? plan->input : plan->batch * plan->input;
  n->x_batch = plan->batch_first ? plan->time * plan->input : plan->input;
  n->y_time = plan->batch_first ? plan->state : plan->batch * plan->state;
  n->y_batch = plan->batch_first ? plan->time * plan->state : plan->state;
  const float x_scale = (float)node->inputs[0]->quant->scale, h_scale = (float)node->outputs[1]->quant->scale;
  n->cell_shift = power_of(node->outputs[2]->quant->scale);
  const float cell_scale = (float)node->outputs[2]->quant->scale;
  for (int32_t g = 0; g < GATES; ++g) {
    const float to = plan->normalization >= 0 ? a->gate_scales.at[g] : 1.0f / 4096;
    const int64_t unit = g * plan->hidden;
    n->input[g] = mslite_make_multiplier((double)(scale_of(node->inputs[1], unit) * x_scale / to));
    n->hidden[g] = mslite_make_multiplier((double)(scale_of(node->inputs[2], unit) * h_scale / to));
    if (plan->peepholes >= 0 && g != GATE_C)
      n->peephole[g] = mslite_make_multiplier(
          (double)(float)((double)cell_scale * (double)scale_of(node->inputs[plan->peepholes], unit) / (double)to));
    if (plan->normalization < 0) continue;
    const float norm = scale_of(node->inputs[plan->normalization], unit);
    n->norm[g] = mslite_make_multiplier((double)norm);
    n->norm[g].shift += 12;
    n->guard[g] = (int32_t)(10000 * norm) > 1 ? (int32_t)(10000 * norm) : 1;
  }
  const double step = 1.0 / 32768;
  n->output = mslite_make_multiplier((double)(float)(step / (double)a->hidden_scale * step));
  n->state_zero = node->outputs[1]->quant->zero_point;
  n->output_zero = (int32_t)a->hidden_zero_point;
  if (plan->projection >= 0) {
    n->projection =
        mslite_make_multiplier((double)(scale_of(node->inputs[plan->projection], 0) * a->hidden_scale / h_scale));
    n->output_zero = -n->output_zero; /* the packed projection adds it again */
  }
  n->cell_clip = limited_steps(a->cell_clip, cell_scale, INT16_MAX);
  n->projection_clip = limited_steps(a->projection_clip, (float)node->outputs[0]->quant->scale, INT8_MAX);
  n->input_is_rest = a->input_is_rest;
  if (plan->batch > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)plan->batch;
  /* gates and cell state of 16 bits, hidden state and what is projected of 8 */
  schedule->scratch_bytes = (GATES + 1) * plan->hidden * (int64_t)sizeof(int16_t) + plan->state + plan->hidden;
  return MSLITE_OK;
}

static int64_t rows_of(const mslite_tensor *weight) { return weight->dims[weight->rank - 2]; }

static int64_t pack_size(const mslite_node *node, int32_t input) {
  const lstm_places at = places_of(node);
  if (input != 1 && input != 2 && input != at.projection) return 0;
  return rows_of(node->inputs[input]) * (int64_t)sizeof(int32_t) + mslite_element_count(node->inputs[input]);
}

static void pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  const lstm_places at = places_of(node);
  const mslite_tensor *weight = node->inputs[input];
  const int64_t rows = rows_of(weight), columns = weight->dims[weight->rank - 1];
  const int8_t *from = source;
  int32_t *start = packed;
  int32_t zero = -node->inputs[0]->quant->zero_point;
  const int32_t *bias = input == 1 && at.normalization < 0 ? node->inputs[at.bias]->data : NULL;
  if (input == 2) zero = -node->outputs[1]->quant->zero_point;
  if (input == at.projection) {
    zero = (int32_t)attributes_of(node)->hidden_zero_point;
    bias = at.projection_bias >= 0 ? node->inputs[at.projection_bias]->data : NULL;
  }
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += from[r * columns + c];
    start[r] = (int32_t)((uint32_t)(bias == NULL ? 0 : bias[r]) + (uint32_t)sum * (uint32_t)zero);
  }
  memcpy(start + rows, source, (size_t)(rows * columns));
}

static int32_t dot(int32_t start, const int8_t *a, const int8_t *b, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return (int32_t)((uint32_t)start + (uint32_t)sum);
}

static int16_t cut(int32_t value) { return (int16_t)mslite_limit(value, INT16_MIN, INT16_MAX); }

/* Mean 0 and variance 1 over the units of a gate, with 10 more bits; then weights and bias. */
static void normalise(const lstm_derived *n, int32_t g, const int16_t *weight, const int32_t *bias, int16_t *gate) {
  const int64_t count = n->plan.hidden;
  int64_t sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += gate[i];
    squares += (int32_t)gate[i] * gate[i];
  }
  const int32_t mean = (int32_t)(sum * 1024 / count), share = (int32_t)((1 << 20) / count);
  int32_t variance = (int32_t)((squares * share - (int64_t)mean * mean) / (1 << 20));
  if (variance < 1) variance = n->guard[g];
  const mslite_multiplier inverse = mslite_inverse_root(variance);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t normal = mslite_rescale(1024 * gate[i] - mean, inverse);
    const int32_t wide = (int32_t)((uint32_t)normal * (uint32_t)(int32_t)weight[i] + (uint32_t)bias[i]);
    const int64_t rounded = wide > 0 ? (int64_t)wide + 512 : (int64_t)wide - 512;
    gate[i] = cut(mslite_rescale((int32_t)(rounded / 1024), n->norm[g]));
  }
}

static const void *operand(const mslite_run *run, int32_t index) { return index < 0 ? NULL : run->inputs[index]; }

static void compute_gate(const lstm_derived *n, const mslite_run *run, int32_t g, const int8_t *x, const int8_t *h,
                         const int16_t *cell, int16_t *gate) {
  const mslite_recurrent_plan *plan = &n->plan;
  const int64_t rows = GATES * plan->hidden, first = g * plan->hidden;
  const packed_weights w = unpack(run->inputs[plan->weight_input], rows);
  const packed_weights r = unpack(run->inputs[plan->weight_hidden], rows);
  const int16_t *peephole = g == GATE_C ? NULL : operand(run, plan->peepholes);
  for (int64_t i = 0; i < plan->hidden; ++i) {
    const int64_t row = first + i;
    int32_t sum = cut(mslite_rescale(dot(w.start[row], x, w.rows + row * plan->input, plan->input), n->input[g]));
    sum += mslite_rescale(dot(r.start[row], h, r.rows + row * plan->state, plan->state), n->hidden[g]);
    gate[i] = cut(sum);
    if (peephole != NULL) gate[i] = cut(gate[i] + mslite_rescale(peephole[row] * cell[i], n->peephole[g]));
  }
  if (plan->normalization >= 0) {
    const int16_t *weight = run->inputs[plan->normalization];
    const int32_t *bias = run->inputs[plan->bias];
    normalise(n, g, weight + first, bias + first, gate);
  }
  for (int64_t i = 0; i < plan->hidden; ++i) {
    gate[i] = g == GATE_C ? mslite_fixed_tanh(gate[i], 3) : mslite_fixed_sigmoid(gate[i]);
  }
}

static int16_t scaled_product(int16_t a, int16_t b, int32_t shift) {
  return (int16_t)(uint16_t)(uint32_t)mslite_divide_by_power((int32_t)a * b, shift);
}

static void update_cell(const lstm_derived *n, const int16_t *gates, int16_t *cell) {
  const int64_t count = n->plan.hidden;
  const int16_t *input = gates + GATE_I * count, *forget = gates + GATE_F * count, *new = gates + GATE_C *count;
  for (int64_t i = 0; i < count; ++i) {
    const int16_t kept = scaled_product(forget[i], cell[i], 15);
    const int16_t share = n->input_is_rest ? (int16_t)(INT16_MAX - forget[i]) : input[i];
    cell[i] = cut(kept + scaled_product(share, new[i], 30 + n->cell_shift));
    if (n->cell_clip > 0) cell[i] = (int16_t)mslite_limit(cell[i], -n->cell_clip, n->cell_clip);
  }
}

static void update_hidden(const lstm_derived *n, const mslite_run *run, const int16_t *gate, const int16_t *cell,
                          int8_t *space, int8_t *h) {
  const mslite_recurrent_plan *plan = &n->plan;
  int8_t *output = plan->projection < 0 ? h : space;
  for (int64_t i = 0; i < plan->hidden; ++i) {
    const int32_t product = gate[i] * mslite_fixed_tanh(cell[i], 15 + n->cell_shift);
    output[i] = (int8_t)mslite_limit(mslite_rescale(product, n->output) + n->output_zero, INT8_MIN, INT8_MAX);
  }
  if (plan->projection < 0) return;
  const packed_weights p = unpack(run->inputs[plan->projection], plan->state);
  for (int64_t i = 0; i < plan->state; ++i) {
    const int32_t sum = dot(p.start[i], space, p.rows + i * plan->hidden, plan->hidden);
    h[i] = (int8_t)mslite_limit(mslite_rescale(sum, n->projection) + n->state_zero, INT8_MIN, INT8_MAX);
    if (n->projection_clip > 0) h[i] = (int8_t)mslite_limit(h[i], -n->projection_clip, n->projection_clip);
  }
}

/* All time steps of one sequence. */
static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lstm_derived *n = run->derived;
  const mslite_recurrent_plan *plan = &n->plan;
  int16_t *gates = run->scratch, *cell = gates + GATES * plan->hidden;
  int8_t *h = (int8_t *)(cell + plan->hidden), *space = h + plan->state;
  const int8_t *first_h = operand(run, plan->initial_hidden);
  const int16_t *first_cell = operand(run, plan->initial_cell);
  memset(h, n->state_zero, (size_t)plan->state);
  memset(cell, 0, (size_t)plan->hidden * sizeof *cell);
  if (first_h != NULL) memcpy(h, first_h + part * plan->state, (size_t)plan->state);
  if (first_cell != NULL) memcpy(cell, first_cell + part * plan->hidden, (size_t)plan->hidden * sizeof *cell);
  for (int64_t t = 0; t < plan->time; ++t) {
    const int8_t *x = (const int8_t *)run->inputs[0] + part * n->x_batch + t * n->x_time;
    static const int32_t before_cell[] = {GATE_I, GATE_F, GATE_C};
    for (int32_t k = n->input_is_rest ? 1 : 0; k < 3; ++k) {
      compute_gate(n, run, before_cell[k], x, h, cell, gates + before_cell[k] * plan->hidden);
    }
    update_cell(n, gates, cell);
    int16_t *output = gates + GATE_O * plan->hidden;
    compute_gate(n, run, GATE_O, x, h, cell, output);
    update_hidden(n, run, output, cell, space, h);
    memcpy((int8_t *)run->outputs[0] + part * n->y_batch + t * n->y_time, h, (size_t)plan->state);
  }
  memcpy((int8_t *)run->outputs[1] + part * plan->state, h, (size_t)plan->state);
  memcpy((int16_t *)run->outputs[2] + part * plan->hidden, cell, (size_t)plan->hidden * sizeof *cell);
}

const mslite_kernel mslite_kernel_lstm_int8 = {
    .name = "lstm_int8_scalar",
    .op = MSLITE_OP_LSTMSequence,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(lstm_derived),
    .support = support,
    .prepare = prepare,
    .pack_size = pack_size,
    .pack = pack,
    .run = run_part,
    .quantised = 1,
};
