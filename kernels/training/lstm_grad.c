/* LSTMGrad: x hidden cell weight y hidden_out cell_out dy dhidden dcell -> dx dhidden dcell dweight, backpropagation
 * through time. The gates are recomputed from x and y, so the layout of intermediate results in a file does not
 * matter. A part of the first phase is one sequence in one direction, which computes the gradients before the gates'
 * functions; the next phases compute the rows of x and the rows of the weights. Sums are in double, in an order that
 * does not depend on threads. */
#include <string.h>

#include "math/scalar_math.h"
#include "recurrent/recurrent_plan.h"

enum { OPERANDS = 10, GATES = 4 };
enum { GATE_I, GATE_F, GATE_G, GATE_O }; /* in the order of flat weights */

typedef struct {
  mslite_recurrent_plan plan;
  int64_t cells_at; /* in the shared workspace: [direction, batch, time, hidden], after the rows of gates */
} lstm_grad_derived;

static int32_t support(const mslite_node *node) {
  if (node->input_count < OPERANDS || node->output_count != 4) return 0;
  for (int32_t i = 0; i < OPERANDS; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  lstm_grad_derived *numbers = derived;
  mslite_recurrent_plan *plan = &numbers->plan;
  const mslite_LSTMGrad *attributes = node->params;
  const mslite_LSTM forward = {
      .bidirectional = attributes->bidirectional,
      .has_bias = attributes->has_bias,
      .input_size = attributes->input_size,
      .hidden_size = attributes->hidden_size,
      .num_layers = attributes->num_layers,
      .zoneout_cell = attributes->zoneout_cell,
      .zoneout_hidden = attributes->zoneout_hidden,
  };
  if (mslite_plan_recurrent(MSLITE_OP_LSTM, &forward, node->inputs, 4, plan) != NULL) return MSLITE_ERROR_UNSUPPORTED;
  const int64_t states = plan->directions * plan->batch * plan->hidden;
  for (int32_t i = 4; i < OPERANDS; ++i) {
    const int64_t wanted = i == 4 || i == 7 ? plan->time * states : states;
    if (mslite_element_count(node->inputs[i]) != wanted) return MSLITE_ERROR_SHAPE;
  }
  const int64_t sequences = plan->directions * plan->batch, rows = plan->time * plan->batch;
  const int64_t widest = plan->input > 2 * plan->hidden ? plan->input : 2 * plan->hidden;
  const int64_t weight_rows = plan->directions * GATES * plan->hidden;
  if (sequences > INT32_MAX || rows > INT32_MAX || weight_rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  numbers->cells_at = plan->time * states * GATES;
  schedule->phase_count = 3;
  schedule->part_count[0] = (int32_t)sequences;
  schedule->part_count[1] = (int32_t)rows;
  schedule->part_count[2] = (int32_t)weight_rows;
  schedule->shared_bytes = plan->time * states * (GATES + 1) * (int64_t)sizeof(float);
  schedule->scratch_bytes = widest * (int64_t)sizeof(double);
  return MSLITE_OK;
}

static int64_t time_of(const mslite_recurrent_plan *plan, int64_t direction, int64_t step) {
  return direction == 1 ? plan->time - 1 - step : step;
}

/* Returns the offset of an entry of y or dy: [time, batch, direction, hidden]. */
static int64_t place_of(const mslite_recurrent_plan *plan, int64_t direction, int64_t batch, int64_t step) {
  const int64_t row = time_of(plan, direction, step) * plan->batch + batch;
  return (row * plan->directions + direction) * plan->hidden;
}

/* Returns the offset of a step in the workspace: [direction, batch, step]. */
static int64_t kept_at(const mslite_recurrent_plan *plan, int64_t direction, int64_t batch, int64_t step) {
  return ((direction * plan->batch + batch) * plan->time + step) * plan->hidden;
}

static const float *x_row(const mslite_run *run, const mslite_recurrent_plan *plan, int64_t time, int64_t batch) {
  return (const float *)run->inputs[0] + (time * plan->batch + batch) * plan->input;
}

/* Returns the hidden state before a step. */
static const float *hidden_before(const mslite_run *run, const mslite_recurrent_plan *plan, int64_t direction,
                                  int64_t batch, int64_t step) {
  if (step == 0) return (const float *)run->inputs[1] + (direction * plan->batch + batch) * plan->hidden;
  return (const float *)run->inputs[4] + place_of(plan, direction, batch, step - 1);
}

static double dot(const float *a, const float *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += (double)a[i] * (double)b[i];
  return sum;
}

static void add_scaled_wide(double *sums, const float *x, double factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += factor * (double)x[i];
}

/* ---- one sequence ---- */

static double gate_sigmoid(double x) {
  const double e = mslite_exp(x < 0 ? x : -x);
  return (x < 0 ? e : 1) / (1 + e);
}

static void gates_of_step(const mslite_run *run, const mslite_recurrent_plan *plan, int64_t direction, int64_t batch,
                          int64_t step, float *gates) {
  const float *weights = run->inputs[3];
  const float *x = x_row(run, plan, time_of(plan, direction, step), batch);
  const float *before = hidden_before(run, plan, direction, batch, step);
  for (int64_t row = 0; row < GATES * plan->hidden; ++row) {
    double sum = dot(weights + plan->weight_input_at[direction] + row * plan->input, x, plan->input) +
                 dot(weights + plan->weight_hidden_at[direction] + row * plan->hidden, before, plan->hidden);
    if (plan->bias_at[direction] >= 0) sum += (double)weights[plan->bias_at[direction] + row];
    if (plan->hidden_bias_at[direction] >= 0) sum += (double)weights[plan->hidden_bias_at[direction] + row];
    gates[row] = (float)(row / plan->hidden == GATE_G ? mslite_tanh(sum) : gate_sigmoid(sum));
  }
}

/* Overwrites the gates with their gradients. dcell and dhidden: on entry those after the step, on return those
 * before it. */
static void step_back(const mslite_recurrent_plan *plan, const float *dy, const float *cell, const float *cell_before,
                      const float *weight_hidden, float *gates, double *dhidden, double *dcell) {
  const int64_t hidden = plan->hidden;
  for (int64_t j = 0; j < hidden; ++j) {
    float *own = gates + j;
    const double i = (double)own[GATE_I * hidden], f = (double)own[GATE_F * hidden];
    const double g = (double)own[GATE_G * hidden], o = (double)own[GATE_O * hidden];
    const double level = mslite_tanh((double)cell[j]), dh = dhidden[j] + (double)dy[j];
    const double dc = dcell[j] + dh * o * (1 - level * level);
    own[GATE_I * hidden] = (float)(dc * g * i * (1 - i));
    own[GATE_F * hidden] = (float)(dc * (double)cell_before[j] * f * (1 - f));
    own[GATE_G * hidden] = (float)(dc * i * (1 - g * g));
    own[GATE_O * hidden] = (float)(dh * level * o * (1 - o));
    dcell[j] = dc * f;
    dhidden[j] = 0;
  }
  for (int64_t row = 0; row < GATES * hidden; ++row) {
    add_scaled_wide(dhidden, weight_hidden + row * hidden, (double)gates[row], hidden);
  }
}

static void sequence(const mslite_run *run, const lstm_grad_derived *numbers, int64_t part) {
  const mslite_recurrent_plan *plan = &numbers->plan;
  const int64_t direction = part / plan->batch, batch = part % plan->batch, hidden = plan->hidden;
  const int64_t first = kept_at(plan, direction, batch, 0), state = part * hidden;
  float *gates = (float *)run->shared + first * GATES;
  float *cells = (float *)run->shared + numbers->cells_at + first;
  const float *start = (const float *)run->inputs[2] + state;
  for (int64_t step = 0; step < plan->time; ++step) {
    float *own = gates + step * GATES * hidden;
    const float *before = step == 0 ? start : cells + (step - 1) * hidden;
    gates_of_step(run, plan, direction, batch, step, own);
    for (int64_t j = 0; j < hidden; ++j) {
      cells[step * hidden + j] = (float)((double)own[GATE_F * hidden + j] * (double)before[j] +
                                         (double)own[GATE_I * hidden + j] * (double)own[GATE_G * hidden + j]);
    }
  }
  double *dhidden = run->scratch, *dcell = dhidden + hidden;
  for (int64_t j = 0; j < hidden; ++j) {
    dhidden[j] = (double)((const float *)run->inputs[8])[state + j];
    dcell[j] = (double)((const float *)run->inputs[9])[state + j];
  }
  const float *weight_hidden = (const float *)run->inputs[3] + plan->weight_hidden_at[direction];
  for (int64_t step = plan->time - 1; step >= 0; --step) {
    const float *before = step == 0 ? start : cells + (step - 1) * hidden;
    const float *dy = (const float *)run->inputs[7] + place_of(plan, direction, batch, step);
    step_back(plan, dy, cells + step * hidden, before, weight_hidden, gates + step * GATES * hidden, dhidden, dcell);
  }
  for (int64_t j = 0; j < hidden; ++j) {
    ((float *)run->outputs[1])[state + j] = (float)dhidden[j];
    ((float *)run->outputs[2])[state + j] = (float)dcell[j];
  }
}

/* ---- x, and the weights ---- */

static void narrow(const double *sums, float *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = (float)sums[i];
}

static void input_row(const mslite_run *run, const mslite_recurrent_plan *plan, int64_t part) {
  const int64_t time = part / plan->batch, batch = part % plan->batch;
  double *sums = run->scratch;
  memset(sums, 0, (size_t)plan->input * sizeof(double));
  for (int64_t direction = 0; direction < plan->directions; ++direction) {
    const int64_t step = time_of(plan, direction, time);
    const float *gates = (const float *)run->shared + kept_at(plan, direction, batch, step) * GATES;
    const float *weight = (const float *)run->inputs[3] + plan->weight_input_at[direction];
    for (int64_t row = 0; row < GATES * plan->hidden; ++row) {
      add_scaled_wide(sums, weight + row * plan->input, (double)gates[row], plan->input);
    }
  }
  narrow(sums, (float *)run->outputs[0] + part * plan->input, plan->input);
}

static void weight_row(const mslite_run *run, const mslite_recurrent_plan *plan, int64_t part) {
  const int64_t rows = GATES * plan->hidden, direction = part / rows, row = part % rows;
  float *dweight = run->outputs[3];
  double *sums = run->scratch, bias = 0;
  for (int32_t of_hidden = 0; of_hidden < 2; ++of_hidden) {
    const int64_t width = of_hidden ? plan->hidden : plan->input;
    const int64_t first = of_hidden ? plan->weight_hidden_at[direction] : plan->weight_input_at[direction];
    memset(sums, 0, (size_t)width * sizeof(double));
    bias = 0;
    for (int64_t step = 0; step < plan->time; ++step) {
      for (int64_t batch = 0; batch < plan->batch; ++batch) {
        const double gradient =
            (double)((const float *)run->shared)[kept_at(plan, direction, batch, step) * GATES + row];
        const float *from = of_hidden ? hidden_before(run, plan, direction, batch, step)
                                      : x_row(run, plan, time_of(plan, direction, step), batch);
        add_scaled_wide(sums, from, gradient, width);
        bias += gradient;
      }
    }
    narrow(sums, dweight + first + row * width, width);
  }
  if (plan->bias_at[direction] >= 0) dweight[plan->bias_at[direction] + row] = (float)bias;
  if (plan->hidden_bias_at[direction] >= 0) dweight[plan->hidden_bias_at[direction] + row] = (float)bias;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const lstm_grad_derived *numbers = run->derived;
  if (phase == 0) sequence(run, numbers, part);
  if (phase == 1) input_row(run, &numbers->plan, part);
  if (phase == 2) weight_row(run, &numbers->plan, part);
}

const mslite_kernel mslite_kernel_lstm_grad = {
    .name = "lstm_grad_scalar",
    .op = MSLITE_OP_LSTMGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(lstm_grad_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
