/* StoredLSTMCell: one step of an LSTM on quantized integers, with a single matmul for all gates.
 *
 * Arithmetic: LiteRT's quantized LSTM cell, for which it has no reference kernel. Sums are rescaled to Q3.12; gates
 * are fixed-point functions of them in Q0.15; the cell state is in Q4.11, and saturated to Q3.12 for its tanh; the
 * hidden state has 8 bits in units of 1/128. */
#include <string.h>

#include "math/fixed_gates.h"
#include "movement.h"
#include "quantized.h"

enum { X, WEIGHT, BIAS, HIDDEN, CELL };
enum { GATE_I, GATE_C, GATE_F, GATE_O, GATES };

typedef struct {
  int64_t batch, input, units;
  mslite_multiplier factor; /* from sums to Q3.12 */
  int32_t weight_zero;
} cell_derived;

static bool is_state(const mslite_tensor *tensor) {
  return mslite_is_quantized(tensor, MSLITE_INT8) && tensor->quant->zero_point == 0 &&
         tensor->quant->scale == 1.0 / 128;
}

static bool is_cell(const mslite_tensor *tensor) {
  return mslite_is_quantized(tensor, MSLITE_INT16) && tensor->quant->zero_point == 0 &&
         tensor->quant->scale == 1.0 / 2048;
}

static int32_t support(const mslite_node *node) {
  const mslite_tensor *const *in = node->inputs;
  if (node->input_count != 5 || node->output_count != 2 || !is_state(in[X]) || !is_state(in[HIDDEN])) return 0;
  if (!mslite_is_quantized(in[WEIGHT], MSLITE_INT8) || in[WEIGHT]->data == NULL) return 0;
  if (in[BIAS]->type != MSLITE_INT32 || in[BIAS]->data == NULL || in[BIAS]->quant_count != 1) return 0;
  return in[BIAS]->quant->scale > 0 && is_cell(in[CELL]) && is_state(node->outputs[0]) && is_cell(node->outputs[1]);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cell_derived *n = derived;
  memset(n, 0, sizeof *n);
  n->batch = node->inputs[X]->dims[0];
  n->input = node->inputs[X]->dims[1];
  n->units = node->inputs[HIDDEN]->dims[1];
  n->factor = mslite_make_multiplier(4096.0 * (double)(float)node->inputs[BIAS]->quant->scale);
  n->weight_zero = node->inputs[WEIGHT]->quant->zero_point;
  if (n->batch > INT32_MAX || n->factor.shift > 30 || n->factor.shift < -31) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)n->batch;
  return MSLITE_OK;
}

/* Returns the pre-activation for a row of the weights. */
static int16_t gate_of(const cell_derived *n, const mslite_run *run, int64_t row, const int8_t *x, const int8_t *h) {
  const int8_t *weight = (const int8_t *)run->inputs[WEIGHT] + row * (n->input + n->units);
  uint32_t sum = (uint32_t)((const int32_t *)run->inputs[BIAS])[row];
  for (int64_t i = 0; i < n->input; ++i) sum += (uint32_t)(x[i] * (weight[i] - n->weight_zero));
  for (int64_t i = 0; i < n->units; ++i) sum += (uint32_t)(h[i] * (weight[n->input + i] - n->weight_zero));
  return (int16_t)mslite_clamp(mslite_rescale_up((int32_t)sum, n->factor), INT16_MIN, INT16_MAX);
}

/* One sequence. */
static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const cell_derived *n = run->derived;
  const int8_t *x = (const int8_t *)run->inputs[X] + part * n->input;
  const int8_t *h = (const int8_t *)run->inputs[HIDDEN] + part * n->units;
  const int16_t *before = (const int16_t *)run->inputs[CELL] + part * n->units;
  for (int64_t u = 0; u < n->units; ++u) {
    const int16_t input = mslite_fixed_sigmoid(gate_of(n, run, GATE_I * n->units + u, x, h));
    const int16_t candidate = mslite_fixed_tanh(gate_of(n, run, GATE_C * n->units + u, x, h), 3);
    const int16_t forget = mslite_fixed_sigmoid(gate_of(n, run, GATE_F * n->units + u, x, h));
    const int16_t output = mslite_fixed_sigmoid(gate_of(n, run, GATE_O * n->units + u, x, h));
    const int32_t taken = mslite_divide_by_power(mslite_fixed_product(input, candidate), 4);
    const int16_t cell = (int16_t)mslite_clamp(taken + mslite_fixed_product(forget, before[u]), INT16_MIN, INT16_MAX);
    const int16_t hidden = mslite_fixed_product(output, mslite_fixed_tanh(mslite_fixed_scaled(cell, 1), 3));
    ((int16_t *)run->outputs[1])[part * n->units + u] = cell;
    ((int8_t *)run->outputs[0])[part * n->units + u] =
        (int8_t)mslite_clamp(mslite_divide_by_power(hidden, 8), INT8_MIN, INT8_MAX);
  }
}

MSLITE_QUANTIZED_KERNEL(lstm_cell_int8, StoredLSTMCell, cell_derived, support, prepare, run_part, NULL)
