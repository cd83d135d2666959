/* LSTMSequence on quantized integers with 8-bit matmul results ("8x8_8"): the input gate is 1 - the forget gate,
 * gates are normalized, the hidden state is projected.
 *
 * Arithmetic: TensorFlow Lite's reference kernel. The products with x and with the hidden state are each rescaled to
 * 8 bits and added in Q3.12; normalization and functions are computed in float32 and saturated to 16 bits. Two bugs
 * of the reference are reproduced: peepholes have no effect; and the output gate rescales its product with the
 * hidden state with the shift of the forget gate's as the multiplier's value, around the zero point of the
 * candidate's product with x. tanh is accurate to float32 here; the C library that the reference calls is accurate
 * to two units. */
#include <math.h>
#include <string.h>

#include "math/scalar_math.h"
#include "movement.h"
#include "quantized.h"
#include "recurrent/lstm_stored.h"

enum { SUM, OF_INPUT, OF_HIDDEN, TERMS }; /* the scales and zero points of a gate */

typedef struct {
  mslite_lstm_frame frame;
  mslite_multiplier narrow[LSTM_GATES][TERMS], wide[LSTM_GATES][TERMS]; /* to 8 bits, and from there to Q3.12 */
  int32_t zero[LSTM_GATES][TERMS];
  float norm[LSTM_GATES]; /* the scale of the coefficients, rounded like a multiplier */
  mslite_multiplier projection;
  int32_t state_zero, cell_clip, projection_clip;
} lstm_derived;

static const mslite_LSTMSequence *attributes_of(const mslite_node *node) { return node->params; }

static int32_t support(const mslite_node *node) {
  const mslite_LSTMSequence *a = attributes_of(node);
  if (!mslite_lstm_is_stored(node, false) || a->has_peepholes || a->whole_sums || !a->input_is_rest) return 0;
  if (!a->has_normalization || !a->has_projection || !a->has_projection_bias) return 0;
  const int64_t units = node->inputs[1]->dims[1] / LSTM_GATES;
  if (mslite_lstm_has_unit_scales(node->inputs[1], units) || mslite_lstm_has_unit_scales(node->inputs[2], units))
    return 0;
  if (a->gate_scales.count != LSTM_GATES * TERMS || a->gate_zero_points.count != LSTM_GATES * TERMS) return 0;
  for (int32_t i = TERMS; i < LSTM_GATES * TERMS; ++i) {
    if (!(a->gate_scales.at[i] > 0) || a->gate_zero_points.at[i] < INT8_MIN || a->gate_zero_points.at[i] > INT8_MAX)
      return 0;
  }
  return mslite_lstm_power_of(node->outputs[2]->quant->scale) == -15;
}

static float real_of(mslite_multiplier factor) { return (float)ldexp((double)factor.value, factor.shift - 31); }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_LSTMSequence *a = attributes_of(node);
  lstm_derived *n = derived;
  memset(n, 0, sizeof *n);
  if (!mslite_lstm_frame_of(node, &n->frame)) return MSLITE_ERROR_SHAPE;
  const mslite_recurrent_plan *plan = &n->frame.plan;
  const float x_scale = (float)node->inputs[0]->quant->scale, h_scale = (float)node->outputs[1]->quant->scale;
  for (int32_t g = LSTM_GATE_O; g < LSTM_GATES; ++g) {
    const float *scale = a->gate_scales.at + g * TERMS;
    const int64_t unit = g * plan->hidden;
    const float of_x = mslite_lstm_scale_of(node->inputs[1], unit), of_h = mslite_lstm_scale_of(node->inputs[2], unit);
    n->narrow[g][OF_INPUT] = mslite_make_multiplier((double)(of_x * x_scale / scale[OF_INPUT]));
    n->narrow[g][OF_HIDDEN] = mslite_make_multiplier((double)(of_h * h_scale / scale[OF_HIDDEN]));
    for (int32_t t = OF_INPUT; t < TERMS; ++t) {
      n->wide[g][t] = mslite_make_multiplier((double)(scale[t] / scale[SUM]));
      n->zero[g][t] = (int32_t)a->gate_zero_points.at[g * TERMS + t];
    }
    n->norm[g] = real_of(mslite_make_multiplier((double)mslite_lstm_scale_of(node->inputs[plan->normalization], unit)));
  }
  n->wide[LSTM_GATE_O][OF_HIDDEN].value = n->wide[LSTM_GATE_F][OF_HIDDEN].shift;
  n->zero[LSTM_GATE_O][OF_HIDDEN] = n->zero[LSTM_GATE_C][OF_INPUT];
  n->state_zero = node->outputs[1]->quant->zero_point;
  const double projected = (double)mslite_lstm_scale_of(node->inputs[plan->projection], 0) / 32768 / (double)h_scale;
  n->projection = mslite_make_multiplier((double)(float)projected);
  n->cell_clip = a->cell_clip < 1 ? mslite_lstm_steps(a->cell_clip, 1.0F / 32768, INT16_MAX) : 0;
  n->projection_clip = mslite_lstm_steps(a->projection_clip, (float)node->outputs[0]->quant->scale, INT8_MAX);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)plan->batch;
  /* Gates and cell state have 16 bits, the hidden state 8 bits. */
  schedule->scratch_bytes = (LSTM_GATES + 1) * plan->hidden * (int64_t)sizeof(int16_t) + plan->state;
  return MSLITE_OK;
}

static int64_t pack_size(const mslite_node *node, int32_t input) {
  if (input != 1 && input != 2) return 0;
  return mslite_lstm_pack_size(node->inputs[input], false);
}

static void pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  const mslite_tensor *read = input == 1 ? node->inputs[0] : node->outputs[1];
  mslite_lstm_pack(node, input, NULL, -read->quant->zero_point, NULL, source, packed);
}

/* Normalizes the units of a gate to mean 0 and variance 1, and applies coefficients and biases; in Q3.12. */
static void normalize(float scale, const int16_t *weight, const int32_t *bias, int64_t count, int16_t *gate) {
  float sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += (float)gate[i];
    squares += (float)gate[i] * (float)gate[i];
  }
  const float mean = sum / (float)count, variance = squares / (float)count - mean * mean;
  const float inverse = 1.0F / sqrtf(variance == 0 ? 1e-8F : variance), bias_scale = 0x1p-10F * scale;
  for (int64_t i = 0; i < count; ++i) {
    const float normal = ((float)gate[i] - mean) * inverse;
    const float weighted = normal * (float)weight[i] * scale + (float)bias[i] * bias_scale;
    const float steps = roundf(weighted * 4096.0F);
    gate[i] = (int16_t)(steps < INT16_MIN ? INT16_MIN : steps > INT16_MAX ? INT16_MAX : steps == steps ? steps : 0.0F);
  }
}

static int16_t cut(float value) {
  const float steps = value * 32768.0F;
  return (int16_t)(steps > INT16_MAX ? INT16_MAX : steps);
}

static int16_t tanh_of(int16_t value, float unit) { return cut((float)mslite_tanh((double)((float)value * unit))); }

static int16_t sigmoid_of(int16_t value) {
  return cut(1.0F / (1.0F + (float)mslite_exp((double)((float)value * -0x1p-12F))));
}

static int32_t narrowed(int32_t sum, mslite_multiplier narrow, int32_t zero) {
  return mslite_clamp(mslite_rescale(sum, narrow) + zero, INT8_MIN, INT8_MAX) - zero;
}

static void compute_gate(const lstm_derived *n, const mslite_run *run, int32_t g, const int8_t *x, const int8_t *h,
                         int16_t *gate) {
  const mslite_recurrent_plan *plan = &n->frame.plan;
  const int64_t rows = LSTM_GATES * plan->hidden, first = g * plan->hidden;
  const mslite_lstm_weights w = mslite_lstm_unpack(run->inputs[plan->weight_input], rows, false);
  const mslite_lstm_weights r = mslite_lstm_unpack(run->inputs[plan->weight_hidden], rows, false);
  for (int64_t i = 0; i < plan->hidden; ++i) {
    const int64_t row = first + i;
    const int32_t of_x = mslite_lstm_dot(w.start[row], x, w.rows + row * plan->input, plan->input);
    const int32_t of_h = mslite_lstm_dot(r.start[row], h, r.rows + row * plan->state, plan->state);
    const int32_t sum =
        mslite_rescale(narrowed(of_x, n->narrow[g][OF_INPUT], n->zero[g][OF_INPUT]), n->wide[g][OF_INPUT]) +
        mslite_rescale(narrowed(of_h, n->narrow[g][OF_HIDDEN], n->zero[g][OF_HIDDEN]), n->wide[g][OF_HIDDEN]);
    gate[i] = (int16_t)mslite_clamp(sum, INT16_MIN, INT16_MAX);
  }
  const int16_t *weight = run->inputs[plan->normalization];
  normalize(n->norm[g], weight + first, (const int32_t *)run->inputs[plan->bias] + first, plan->hidden, gate);
  for (int64_t i = 0; i < plan->hidden; ++i)
    gate[i] = g == LSTM_GATE_C ? tanh_of(gate[i], 0x1p-12F) : sigmoid_of(gate[i]);
}

/* Converts the output gate to the 16-bit hidden state, which is projected to 8 bits. */
static void update_hidden(const lstm_derived *n, const mslite_run *run, int16_t *gate, const int16_t *cell, int8_t *h) {
  const mslite_recurrent_plan *plan = &n->frame.plan;
  const int8_t *weight = run->inputs[plan->projection];
  const int32_t *bias = run->inputs[plan->projection_bias];
  for (int64_t i = 0; i < plan->hidden; ++i)
    gate[i] = (int16_t)mslite_divide_by_power(gate[i] * tanh_of(cell[i], 0x1p-15F), 15);
  for (int64_t i = 0; i < plan->state; ++i) {
    int64_t sum = bias[i];
    for (int64_t k = 0; k < plan->hidden; ++k) sum += gate[k] * weight[i * plan->hidden + k];
    h[i] = (int8_t)mslite_clamp(mslite_rescale_wide(sum, n->projection) + n->state_zero, INT8_MIN, INT8_MAX);
    if (n->projection_clip > 0) h[i] = (int8_t)mslite_clamp(h[i], -n->projection_clip, n->projection_clip);
  }
}

/* Computes all time steps of one sequence. */
static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lstm_derived *n = run->derived;
  const int64_t units = n->frame.plan.hidden;
  int16_t *gates = run->scratch, *cell = gates + LSTM_GATES * units;
  int16_t *forget = gates + LSTM_GATE_F * units, *candidate = gates + LSTM_GATE_C * units;
  int8_t *h = (int8_t *)(cell + units);
  mslite_lstm_begin(run, &n->frame, part, n->state_zero, h, cell);
  for (int64_t t = 0; t < n->frame.plan.time; ++t) {
    const int8_t *x = mslite_lstm_input(run, &n->frame, part, t);
    compute_gate(n, run, LSTM_GATE_F, x, h, forget);
    compute_gate(n, run, LSTM_GATE_C, x, h, candidate);
    mslite_lstm_update_cell(NULL, forget, candidate, units, -15, n->cell_clip, cell);
    compute_gate(n, run, LSTM_GATE_O, x, h, gates + LSTM_GATE_O * units);
    update_hidden(n, run, gates + LSTM_GATE_O * units, cell, h);
    mslite_lstm_result(run, &n->frame, part, t, h);
  }
  mslite_lstm_end(run, &n->frame, part, h, cell);
}

const mslite_kernel mslite_kernel_lstm_narrow_int8 = {
    .name = "lstm_narrow_int8_scalar",
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
