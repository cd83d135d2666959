/* LSTMSequence on quantized integers: int8 inputs, weights and hidden state, int16 cell state and gates, int32
 * biases.
 *
 * Arithmetic: TensorFlow Lite's reference kernels. A gate is the sum, in Q3.12 and saturated to 16 bits after each
 * term, of the products of the input, of the hidden state and (peepholes) of the cell state; optionally normalized
 * by its mean and variance. With `whole_sums` the first two terms are saturated together, because they may be large
 * and cancel. */
#include <string.h>

#include "math/fixed_functions.h"
#include "math/fixed_gates.h"
#include "movement.h"
#include "quantized.h"
#include "recurrent/lstm_stored.h"
#include "recurrent/recurrent_plan.h"

enum { GATES = LSTM_GATES, GATE_I = LSTM_GATE_I, GATE_O = LSTM_GATE_O, GATE_F = LSTM_GATE_F, GATE_C = LSTM_GATE_C };

typedef struct {
  mslite_lstm_frame frame;
  mslite_multiplier input[GATES], hidden[GATES]; /* if all rows of a gate have the same */
  mslite_multiplier peephole[GATES], norm[GATES];
  int32_t guard[GATES]; /* the variance that replaces 0 */
  mslite_multiplier output, projection;
  int32_t output_zero, state_zero;
  int32_t cell_shift; /* the cell state's scale is 2^cell_shift */
  int32_t cell_clip, projection_clip;
  bool input_is_rest;
  bool input_by_row, hidden_by_row; /* rows have their own multipliers */
  bool whole_sums;
} lstm_derived;

static const mslite_LSTMSequence *attributes_of(const mslite_node *node) { return node->params; }

static int32_t support(const mslite_node *node) {
  const mslite_LSTMSequence *a = attributes_of(node);
  if (!mslite_lstm_is_stored(node, true) || !(a->hidden_scale > 0) || a->gate_zero_points.count != 0) return 0;
  if (a->has_normalization && a->gate_scales.count != GATES) return 0;
  const mslite_lstm_places at = mslite_lstm_places_of(node);
  const int64_t units = node->inputs[1]->dims[1] / GATES;
  if (at.peepholes >= 0 && mslite_lstm_has_unit_scales(node->inputs[at.peepholes], units)) return 0;
  if (at.normalization >= 0 && mslite_lstm_has_unit_scales(node->inputs[at.normalization], units)) return 0;
  const int32_t power = mslite_lstm_power_of(node->outputs[2]->quant->scale);
  return power >= -15 && power <= -9;
}

/* Returns whether the rows of a gate have different scales in the weight of x or of the hidden state. */
static bool is_by_row(const mslite_node *node, int32_t weight) {
  return weight <= 2 && mslite_lstm_has_unit_scales(node->inputs[weight], node->inputs[weight]->dims[1] / GATES);
}

/* Returns the scale of the sum of a gate. */
static float gate_scale(const mslite_LSTMSequence *a, int64_t gate) {
  return a->has_normalization ? a->gate_scales.at[gate] : 1.0f / 4096;
}

/* Returns the factor from the products with a row of a weight to the sum of its gate. */
static mslite_multiplier factor_of(const mslite_node *node, int32_t weight, int64_t row) {
  const mslite_tensor *read = weight == 1 ? node->inputs[0] : node->outputs[1], *rows = node->inputs[weight];
  const float to = gate_scale(attributes_of(node), row / (rows->dims[1] / GATES));
  return mslite_make_multiplier((double)(mslite_lstm_scale_of(rows, row) * (float)read->quant->scale / to));
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_LSTMSequence *a = attributes_of(node);
  lstm_derived *n = derived;
  memset(n, 0, sizeof *n);
  if (!mslite_lstm_frame_of(node, &n->frame)) return MSLITE_ERROR_SHAPE;
  const mslite_recurrent_plan *plan = &n->frame.plan;
  const float h_scale = (float)node->outputs[1]->quant->scale;
  n->cell_shift = mslite_lstm_power_of(node->outputs[2]->quant->scale);
  const float cell_scale = (float)node->outputs[2]->quant->scale;
  for (int32_t g = 0; g < GATES; ++g) {
    const float to = gate_scale(a, g);
    const int64_t unit = g * plan->hidden;
    n->input[g] = factor_of(node, 1, unit);
    n->hidden[g] = factor_of(node, 2, unit);
    if (plan->peepholes >= 0 && g != GATE_C)
      n->peephole[g] = mslite_make_multiplier(
          (double)(float)((double)cell_scale * (double)mslite_lstm_scale_of(node->inputs[plan->peepholes], unit) /
                          (double)to));
    if (plan->normalization < 0) continue;
    const float norm = mslite_lstm_scale_of(node->inputs[plan->normalization], unit);
    n->norm[g] = mslite_make_multiplier((double)norm);
    n->norm[g].shift += 12;
    n->guard[g] = (int32_t)(10000 * norm) > 1 ? (int32_t)(10000 * norm) : 1;
  }
  const double step = 1.0 / 32768;
  n->output = mslite_make_multiplier((double)(float)(step / (double)a->hidden_scale * step));
  n->state_zero = node->outputs[1]->quant->zero_point;
  n->output_zero = (int32_t)a->hidden_zero_point;
  if (plan->projection >= 0) {
    n->projection = mslite_make_multiplier(
        (double)(mslite_lstm_scale_of(node->inputs[plan->projection], 0) * a->hidden_scale / h_scale));
    n->output_zero = -n->output_zero; /* the packed projection adds it again */
  }
  n->cell_clip = mslite_lstm_steps(a->cell_clip, cell_scale, INT16_MAX);
  n->projection_clip = mslite_lstm_steps(a->projection_clip, (float)node->outputs[0]->quant->scale, INT8_MAX);
  n->input_is_rest = a->input_is_rest;
  n->input_by_row = is_by_row(node, 1);
  n->hidden_by_row = is_by_row(node, 2);
  n->whole_sums = a->whole_sums;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)plan->batch;
  /* Gates and cell state have 16 bits, hidden state and its input to the projection 8 bits. */
  schedule->scratch_bytes = (GATES + 1) * plan->hidden * (int64_t)sizeof(int16_t) + plan->state + plan->hidden;
  return MSLITE_OK;
}

static int64_t pack_size(const mslite_node *node, int32_t input) {
  if (input != 1 && input != 2 && input != mslite_lstm_places_of(node).projection) return 0;
  return mslite_lstm_pack_size(node->inputs[input], is_by_row(node, input));
}

static void pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  const mslite_lstm_places at = mslite_lstm_places_of(node);
  int32_t zero = -node->inputs[0]->quant->zero_point;
  const int32_t *bias = input == 1 && at.normalization < 0 ? node->inputs[at.bias]->data : NULL;
  if (input == 2) zero = -node->outputs[1]->quant->zero_point;
  if (input == at.projection) {
    zero = (int32_t)attributes_of(node)->hidden_zero_point;
    bias = at.projection_bias >= 0 ? node->inputs[at.projection_bias]->data : NULL;
  }
  mslite_lstm_pack(node, input, bias, zero, is_by_row(node, input) ? factor_of : NULL, source, packed);
}

static int16_t cut(int32_t value) { return (int16_t)mslite_clamp(value, INT16_MIN, INT16_MAX); }

/* Normalizes the units of a gate to mean 0 and variance 1, with 10 more bits; then applies weights and bias. */
static void normalize(const lstm_derived *n, int32_t g, const int16_t *weight, const int32_t *bias, int16_t *gate) {
  const int64_t count = n->frame.plan.hidden;
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
  const mslite_recurrent_plan *plan = &n->frame.plan;
  const int64_t rows = GATES * plan->hidden, first = g * plan->hidden;
  const mslite_lstm_weights w = mslite_lstm_unpack(run->inputs[plan->weight_input], rows, n->input_by_row);
  const mslite_lstm_weights r = mslite_lstm_unpack(run->inputs[plan->weight_hidden], rows, n->hidden_by_row);
  const int16_t *peephole = g == GATE_C ? NULL : operand(run, plan->peepholes);
  for (int64_t i = 0; i < plan->hidden; ++i) {
    const int64_t row = first + i;
    const int32_t of_x = mslite_rescale(mslite_lstm_dot(w.start[row], x, w.rows + row * plan->input, plan->input),
                                        mslite_lstm_factor(&w, row, n->input[g]));
    const int32_t of_h = mslite_rescale(mslite_lstm_dot(r.start[row], h, r.rows + row * plan->state, plan->state),
                                        mslite_lstm_factor(&r, row, n->hidden[g]));
    gate[i] = cut((int32_t)((uint32_t)(n->whole_sums ? of_x : cut(of_x)) + (uint32_t)of_h));
    if (peephole != NULL) gate[i] = cut(gate[i] + mslite_rescale(peephole[row] * cell[i], n->peephole[g]));
  }
  if (plan->normalization >= 0) {
    const int16_t *weight = run->inputs[plan->normalization];
    const int32_t *bias = run->inputs[plan->bias];
    normalize(n, g, weight + first, bias + first, gate);
  }
  for (int64_t i = 0; i < plan->hidden; ++i) {
    gate[i] = g == GATE_C ? mslite_fixed_tanh(gate[i], 3) : mslite_fixed_sigmoid(gate[i]);
  }
}

static void update_hidden(const lstm_derived *n, const mslite_run *run, const int16_t *gate, const int16_t *cell,
                          int8_t *space, int8_t *h) {
  const mslite_recurrent_plan *plan = &n->frame.plan;
  int8_t *output = plan->projection < 0 ? h : space;
  for (int64_t i = 0; i < plan->hidden; ++i) {
    const int32_t product = gate[i] * mslite_fixed_tanh(cell[i], 15 + n->cell_shift);
    output[i] = (int8_t)mslite_clamp(mslite_rescale(product, n->output) + n->output_zero, INT8_MIN, INT8_MAX);
  }
  if (plan->projection < 0) return;
  const mslite_lstm_weights p = mslite_lstm_unpack(run->inputs[plan->projection], plan->state, false);
  for (int64_t i = 0; i < plan->state; ++i) {
    const int32_t sum = mslite_lstm_dot(p.start[i], space, p.rows + i * plan->hidden, plan->hidden);
    h[i] = (int8_t)mslite_clamp(mslite_rescale(sum, n->projection) + n->state_zero, INT8_MIN, INT8_MAX);
    if (n->projection_clip > 0) h[i] = (int8_t)mslite_clamp(h[i], -n->projection_clip, n->projection_clip);
  }
}

/* Computes all time steps of one sequence. */
static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lstm_derived *n = run->derived;
  const mslite_recurrent_plan *plan = &n->frame.plan;
  int16_t *gates = run->scratch, *cell = gates + GATES * plan->hidden;
  int8_t *h = (int8_t *)(cell + plan->hidden), *space = h + plan->state;
  mslite_lstm_begin(run, &n->frame, part, n->state_zero, h, cell);
  for (int64_t t = 0; t < plan->time; ++t) {
    const int8_t *x = mslite_lstm_input(run, &n->frame, part, t);
    static const int32_t before_cell[] = {GATE_I, GATE_F, GATE_C};
    for (int32_t k = n->input_is_rest ? 1 : 0; k < 3; ++k) {
      compute_gate(n, run, before_cell[k], x, h, cell, gates + before_cell[k] * plan->hidden);
    }
    const int16_t *input = n->input_is_rest ? NULL : gates + GATE_I * plan->hidden;
    mslite_lstm_update_cell(input, gates + GATE_F * plan->hidden, gates + GATE_C * plan->hidden, plan->hidden,
                            n->cell_shift, n->cell_clip, cell);
    int16_t *output = gates + GATE_O * plan->hidden;
    compute_gate(n, run, GATE_O, x, h, cell, output);
    update_hidden(n, run, output, cell, space, h);
    mslite_lstm_result(run, &n->frame, part, t, h);
  }
  mslite_lstm_end(run, &n->frame, part, h, cell);
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
    .quantized = 1,
};
