/* RNN, LSTM and GRU, float32. First the matmuls of all inputs with their weights, then the time steps: sequences and
 * directions run in parallel, the steps of one sequence in order. */
#include <math.h>
#include <string.h>

#include "math/simd_math.h"
#include "quantization/dynamic_range.h"
#include "recurrent/recurrent_plan.h"

enum { PROJECT_ROWS = 16, PROJECT_UNITS = 64 };

typedef struct {
  mslite_recurrent_plan plan;
  int64_t row_blocks, unit_blocks; /* of the input matmuls */
  int64_t x_time, x_batch;         /* strides, in elements */
  int64_t y_time, y_batch, y_direction;
  int64_t state_batch, state_direction; /* in units of one state */
  int32_t hidden_output, cell_output;   /* -1: not an output */
} recurrent_derived;

static mslite_status recurrent_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  recurrent_derived *n = derived;
  mslite_recurrent_plan *plan = &n->plan;
  if (mslite_plan_recurrent(node->op, node->params, node->inputs, node->input_count, plan) != NULL)
    return MSLITE_ERROR_SHAPE;
  const int64_t directions = plan->directions;
  n->x_time = plan->batch_first ? plan->input : plan->batch * plan->input;
  n->x_batch = plan->batch_first ? plan->time * plan->input : plan->input;
  n->state_batch = plan->batch_first ? directions : 1;
  n->state_direction = plan->batch_first ? 1 : plan->batch;
  if (plan->batch_first) {
    n->y_direction = plan->state;
    n->y_time = directions * plan->state;
    n->y_batch = plan->time * n->y_time;
  } else {
    n->y_time = directions * plan->batch * plan->state;
    n->y_batch = plan->joined ? directions * plan->state : plan->state;
    n->y_direction = plan->joined ? plan->state : plan->batch * plan->state;
  }
  n->hidden_output = node->output_count > 1 ? 1 : -1;
  n->cell_output = node->output_count > 2 && plan->cell == RECURRENT_LSTM ? 2 : -1;
  const int64_t rows = plan->time * plan->batch;
  const int64_t units = plan->gates * plan->hidden;
  n->row_blocks = (rows + PROJECT_ROWS - 1) / PROJECT_ROWS;
  n->unit_blocks = (units + PROJECT_UNITS - 1) / PROJECT_UNITS;
  if (directions * n->row_blocks * n->unit_blocks > INT32_MAX || directions * plan->batch > INT32_MAX)
    return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 2;
  schedule->part_count[0] = (int32_t)(directions * n->row_blocks * n->unit_blocks);
  schedule->part_count[1] = (int32_t)(directions * plan->batch);
  schedule->shared_bytes = directions * rows * units * (int64_t)sizeof(float);
  /* Gates, hidden state, cell state, and one more vector of each size for matmul results. */
  const int64_t rounded = plan->state > plan->hidden ? plan->state : plan->hidden;
  schedule->scratch_bytes =
      (2 * units + 2 * plan->state + 2 * plan->hidden + (plan->rounding != 0 ? rounded : 0)) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static int32_t recurrent_support(const mslite_node *node) {
  mslite_recurrent_plan plan;
  if (node->inputs[0]->type != MSLITE_FLOAT32) return 0;
  if (mslite_plan_recurrent(node->op, node->params, node->inputs, node->input_count, &plan) != NULL) return 0;
  for (int32_t i = 1; i < node->input_count; ++i) {
    const int32_t type = node->inputs[i]->type;
    if (i == plan.lengths ? type != MSLITE_INT32 && type != MSLITE_INT64 : type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

#if SIMD_WIDTH == 1
SIMD_INLINE float sum_lanes(simd_f32 v) { return v; }
#else
typedef float four_lanes __attribute__((vector_size(16)));

SIMD_INLINE float sum_lanes(simd_f32 v) {
  four_lanes parts[SIMD_WIDTH / 4];
  memcpy(parts, &v, sizeof v);
  for (int32_t half = SIMD_WIDTH / 8; half > 0; half /= 2) {
    for (int32_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  }
  return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
}
#endif

SIMD_INLINE simd_f32 load_some(const float *p, int64_t left) {
  return left >= SIMD_WIDTH ? simd_load(p) : simd_load_partial(p, (int32_t)left);
}

SIMD_INLINE void store_some(float *p, simd_f32 v, int64_t left) {
  if (left >= SIMD_WIDTH) {
    simd_store(p, v);
  } else {
    simd_store_partial(p, v, (int32_t)left);
  }
}

/* y[u] = weight[u][:] . x + bias(es)[u] for `units` rows of `size` weights. */
static void multiply_rows(const float *weight, const float *x, int64_t size, int64_t units, const float *bias_a,
                          const float *bias_b, float *y) {
  int64_t u = 0;
  for (; u + 8 <= units; u += 8) {
    const float *w = weight + u * size, *w4 = w + 4 * size;
    simd_f32 a = simd_set(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    int64_t i = 0;
#define ADD_ROWS(load)                           \
  do {                                           \
    const simd_f32 v = load(x + i);              \
    a = simd_fma(load(w + i), v, a);             \
    b = simd_fma(load(w + size + i), v, b);      \
    c = simd_fma(load(w + 2 * size + i), v, c);  \
    d = simd_fma(load(w + 3 * size + i), v, d);  \
    e = simd_fma(load(w4 + i), v, e);            \
    f = simd_fma(load(w4 + size + i), v, f);     \
    g = simd_fma(load(w4 + 2 * size + i), v, g); \
    h = simd_fma(load(w4 + 3 * size + i), v, h); \
  } while (0)
#define LOAD_REST(p) simd_load_partial(p, (int32_t)(size - i))
    for (; i + SIMD_WIDTH <= size; i += SIMD_WIDTH) ADD_ROWS(simd_load);
    if (i < size) ADD_ROWS(LOAD_REST);
#undef LOAD_REST
#undef ADD_ROWS
    y[u] = sum_lanes(a), y[u + 1] = sum_lanes(b), y[u + 2] = sum_lanes(c), y[u + 3] = sum_lanes(d);
    y[u + 4] = sum_lanes(e), y[u + 5] = sum_lanes(f), y[u + 6] = sum_lanes(g), y[u + 7] = sum_lanes(h);
  }
  for (; u < units; ++u) {
    simd_f32 a = simd_set(0);
    for (int64_t i = 0; i < size; i += SIMD_WIDTH) {
      a = simd_fma(load_some(weight + u * size + i, size - i), load_some(x + i, size - i), a);
    }
    y[u] = sum_lanes(a);
  }
  for (u = 0; bias_a != NULL && u < units; ++u) y[u] += bias_a[u];
  for (u = 0; bias_b != NULL && u < units; ++u) y[u] += bias_b[u];
}

static const float *offset(const mslite_run *run, int32_t input, int64_t at) {
  return input < 0 || at < 0 ? NULL : (const float *)run->inputs[input] + at;
}

/* Computes the input matmul for a block of rows (time, batch) and units. */
static void project(const recurrent_derived *n, const mslite_run *run, int32_t part) {
  const mslite_recurrent_plan *plan = &n->plan;
  const int64_t units = plan->gates * plan->hidden;
  const int64_t rows = plan->time * plan->batch;
  const int64_t direction = part / (n->row_blocks * n->unit_blocks);
  const int64_t row_begin = part / n->unit_blocks % n->row_blocks * PROJECT_ROWS;
  const int64_t unit = part % n->unit_blocks * PROJECT_UNITS;
  const int64_t row_end = rows - row_begin < PROJECT_ROWS ? rows : row_begin + PROJECT_ROWS;
  int64_t count = units - unit < PROJECT_UNITS ? units - unit : PROJECT_UNITS;
  const float *weight = offset(run, plan->weight_input, plan->weight_input_at[direction]) + unit * plan->input;
  /* Biases of normalized gates are added after the normalization. */
  const int32_t bias_input = plan->normalization >= 0 ? -1 : plan->bias;
  const float *bias = offset(run, bias_input, plan->bias_at[direction]);
  const float *hidden_bias = offset(run, bias_input, plan->hidden_bias_at[direction]);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float *x = (const float *)run->inputs[0] + row / plan->batch * n->x_time + row % plan->batch * n->x_batch;
    float *y = (float *)run->shared + (direction * rows + row) * units + unit;
    multiply_rows(weight, x, plan->input, count, bias == NULL ? NULL : bias + unit, NULL, y);
    /* With linear_before_reset the hidden bias of gate h is part of the product that is reset. */
    const int64_t added = plan->linear_before_reset ? 2 * plan->hidden - unit : count;
    for (int64_t i = 0; hidden_bias != NULL && i < count && i < added; ++i) y[i] += hidden_bias[unit + i];
  }
}

static simd_f32 activate(const mslite_recurrent_activation *activation, simd_f32 x) {
  const simd_f32 zero = simd_set(0), one = simd_set(1);
  const simd_f32 alpha = simd_set(activation->alpha), beta = simd_set(activation->beta);
  switch (activation->function) {
    case RECURRENT_SIGMOID:
      return math_sigmoid(x);
    case RECURRENT_TANH:
      return math_tanh(x);
    case RECURRENT_RELU:
      return simd_select(simd_less(x, zero), zero, x);
    case RECURRENT_AFFINE:
      return alpha * x + beta;
    case RECURRENT_LEAKY_RELU:
      return simd_select(simd_less(x, zero), alpha * x, x);
    case RECURRENT_THRESHOLDED_RELU:
      return simd_select(simd_less(alpha, x), x, zero);
    case RECURRENT_SCALED_TANH:
      return alpha * math_tanh(beta * x);
    case RECURRENT_HARD_SIGMOID:
      return math_clamp(alpha * x + beta, zero, one);
    case RECURRENT_ELU:
      return simd_select(simd_less(x, zero), alpha * math_expm1(x), x);
    case RECURRENT_SOFTSIGN:
      return x / (one + math_abs(x));
    default:
      return math_softplus(x);
  }
}

SIMD_INLINE simd_f32 clipped(float bound, simd_f32 x) {
  return bound > 0 ? math_clamp(x, simd_set(-bound), simd_set(bound)) : x;
}

typedef struct {
  float *gates, *product; /* gates * hidden each */
  float *h, *next;        /* state each */
  float *c, *full;        /* hidden each; full: the hidden state before projection */
  float *rounded;         /* of state or hidden, if values are quantized */
} recurrent_space;

/* Returns the values that weights multiply: `x`, or `x` quantized to 8 bits. */
static const float *as_multiplied(const recurrent_derived *n, const float *x, int64_t count, const recurrent_space *s) {
  if (n->plan.rounding == MSLITE_ROUNDS_NOT) return x;
  mslite_fake_quantize(x, count, n->plan.rounding, s->rounded);
  return s->rounded;
}

/* Computes gate `gate` of a normalized LSTM, plus its peephole's product with the cell: mean 0, variance 1, scale,
 * biases. */
static void normalize_gate(const recurrent_derived *n, const mslite_run *run, int64_t direction, int32_t gate,
                           const float *peephole, const recurrent_space *s) {
  const mslite_recurrent_plan *plan = &n->plan;
  const int64_t hidden = plan->hidden, first = plan->place[gate] * hidden;
  const float *scale = offset(run, plan->normalization, direction * 4 * hidden) + first;
  const float *bias = offset(run, plan->bias, plan->bias_at[direction]);
  const float *hidden_bias = offset(run, plan->bias, plan->hidden_bias_at[direction]);
  float *x = s->gates + first;
  double sum = 0, squares = 0;
  for (int64_t k = 0; k < hidden; ++k) {
    if (peephole != NULL) x[k] += peephole[k] * s->c[k];
    sum += x[k];
  }
  const double mean = sum / (double)hidden;
  for (int64_t k = 0; k < hidden; ++k) squares += (x[k] - mean) * (x[k] - mean);
  const double factor = 1 / sqrt(squares / (double)hidden + 1e-8);
  for (int64_t k = 0; k < hidden; ++k) {
    x[k] = (float)((x[k] - mean) * factor * scale[k]);
    if (bias != NULL) x[k] += bias[first + k] + hidden_bias[first + k];
  }
}

/* Updates the cell of a normalized LSTM: the output gate is normalized after the new cell state is known. */
static void step_normalized_cell(const recurrent_derived *n, const mslite_run *run, int64_t direction, float *h,
                                 const recurrent_space *s) {
  const mslite_recurrent_plan *plan = &n->plan;
  const mslite_recurrent_activation *functions = plan->activations[direction];
  const int64_t hidden = plan->hidden;
  const float *peepholes = offset(run, plan->peepholes, direction * 3 * hidden);
  normalize_gate(n, run, direction, 0, peepholes, s);
  normalize_gate(n, run, direction, 2, peepholes == NULL ? NULL : peepholes + 2 * hidden, s);
  normalize_gate(n, run, direction, 3, NULL, s);
  for (int64_t k = 0; k < hidden; k += SIMD_WIDTH) {
    const int64_t left = hidden - k;
    const simd_f32 i =
        activate(&functions[0], clipped(plan->clip, load_some(s->gates + plan->place[0] * hidden + k, left)));
    const simd_f32 f =
        activate(&functions[0], clipped(plan->clip, load_some(s->gates + plan->place[2] * hidden + k, left)));
    const simd_f32 g =
        activate(&functions[1], clipped(plan->clip, load_some(s->gates + plan->place[3] * hidden + k, left)));
    const simd_f32 forget = plan->input_forget ? simd_set(1) - i : f;
    store_some(s->c + k, clipped(plan->cell_clip, forget * load_some(s->c + k, left) + i * g), left);
  }
  normalize_gate(n, run, direction, 1, peepholes == NULL ? NULL : peepholes + hidden, s);
  for (int64_t k = 0; k < hidden; k += SIMD_WIDTH) {
    const int64_t left = hidden - k;
    const simd_f32 o =
        activate(&functions[0], clipped(plan->clip, load_some(s->gates + plan->place[1] * hidden + k, left)));
    store_some(h + k, o * activate(&functions[2], load_some(s->c + k, left)), left);
  }
}

static void step_lstm(const recurrent_derived *n, const mslite_run *run, int64_t direction, const float *input,
                      const recurrent_space *s) {
  const mslite_recurrent_plan *plan = &n->plan;
  const mslite_recurrent_activation *functions = plan->activations[direction];
  const int64_t hidden = plan->hidden;
  const float *peepholes = offset(run, plan->peepholes, direction * 3 * hidden);
  multiply_rows(offset(run, plan->weight_hidden, plan->weight_hidden_at[direction]),
                as_multiplied(n, s->h, plan->state, s), plan->state, 4 * hidden, input, NULL, s->gates);
  float *h = plan->projection < 0 ? s->h : s->full;
  if (plan->normalization >= 0) step_normalized_cell(n, run, direction, h, s);
  for (int64_t k = 0; k < hidden && plan->normalization < 0; k += SIMD_WIDTH) {
    const int64_t left = hidden - k;
    simd_f32 i = load_some(s->gates + plan->place[0] * hidden + k, left);
    simd_f32 o = load_some(s->gates + plan->place[1] * hidden + k, left);
    simd_f32 f = load_some(s->gates + plan->place[2] * hidden + k, left);
    simd_f32 g = load_some(s->gates + plan->place[3] * hidden + k, left);
    simd_f32 c = load_some(s->c + k, left);
    if (peepholes != NULL) {
      i += load_some(peepholes + k, left) * c;
      f += load_some(peepholes + 2 * hidden + k, left) * c;
    }
    i = activate(&functions[0], clipped(plan->clip, i));
    f = plan->input_forget ? simd_set(1) - i : activate(&functions[0], clipped(plan->clip, f));
    g = activate(&functions[1], clipped(plan->clip, g));
    c = clipped(plan->cell_clip, f * c + i * g);
    if (peepholes != NULL) o += load_some(peepholes + hidden + k, left) * c;
    o = activate(&functions[0], clipped(plan->clip, o));
    store_some(s->c + k, c, left);
    store_some(h + k, o * activate(&functions[2], c), left);
  }
  if (plan->projection < 0) return;
  multiply_rows(offset(run, plan->projection, plan->projection_at[direction]), as_multiplied(n, s->full, hidden, s),
                hidden, plan->state, offset(run, plan->projection_bias, direction * plan->state), NULL, s->h);
  for (int64_t k = 0; k < plan->state; k += SIMD_WIDTH) {
    store_some(s->h + k, clipped(plan->projection_clip, load_some(s->h + k, plan->state - k)), plan->state - k);
  }
}

static void step_gru(const recurrent_derived *n, const mslite_run *run, int64_t direction, const float *input,
                     const recurrent_space *s) {
  const mslite_recurrent_plan *plan = &n->plan;
  const mslite_recurrent_activation *functions = plan->activations[direction];
  const int64_t hidden = plan->hidden;
  const float *weight = offset(run, plan->weight_hidden, plan->weight_hidden_at[direction]);
  const float *bias = offset(run, plan->bias, plan->hidden_bias_at[direction]);
  float *product = s->product + 2 * hidden;
  multiply_rows(weight, s->h, hidden, 2 * hidden, input, NULL, s->gates);
  for (int64_t k = 0; k < 2 * hidden; k += SIMD_WIDTH) {
    const int64_t left = 2 * hidden - k;
    store_some(s->gates + k, activate(&functions[0], clipped(plan->clip, load_some(s->gates + k, left))), left);
  }
  const float *reset = s->gates + hidden;
  if (plan->linear_before_reset) {
    multiply_rows(weight + 2 * hidden * hidden, s->h, hidden, hidden, bias == NULL ? NULL : bias + 2 * hidden, NULL,
                  product);
  } else {
    for (int64_t k = 0; k < hidden; ++k) s->next[k] = reset[k] * s->h[k];
    multiply_rows(weight + 2 * hidden * hidden, s->next, hidden, hidden, NULL, NULL, product);
  }
  for (int64_t k = 0; k < hidden; k += SIMD_WIDTH) {
    const int64_t left = hidden - k;
    const simd_f32 z = load_some(s->gates + k, left);
    simd_f32 g = load_some(product + k, left);
    if (plan->linear_before_reset) g = load_some(reset + k, left) * g;
    g = activate(&functions[1], clipped(plan->clip, load_some(input + 2 * hidden + k, left) + g));
    store_some(s->h + k, (simd_set(1) - z) * g + z * load_some(s->h + k, left), left);
  }
}

static void step_rnn(const recurrent_derived *n, const mslite_run *run, int64_t direction, const float *input,
                     const recurrent_space *s) {
  const mslite_recurrent_plan *plan = &n->plan;
  const int64_t hidden = plan->hidden;
  multiply_rows(offset(run, plan->weight_hidden, plan->weight_hidden_at[direction]), as_multiplied(n, s->h, hidden, s),
                hidden, hidden, input, NULL, s->next);
  for (int64_t k = 0; k < hidden; k += SIMD_WIDTH) {
    const simd_f32 x = clipped(plan->clip, load_some(s->next + k, hidden - k));
    store_some(s->h + k, activate(&plan->activations[direction][0], x), hidden - k);
  }
}

static int64_t sequence_length(const recurrent_derived *n, const mslite_run *run, int64_t batch) {
  const mslite_recurrent_plan *plan = &n->plan;
  if (plan->lengths < 0) return plan->time;
  const void *lengths = run->inputs[plan->lengths];
  const int64_t length =
      plan->lengths_type == MSLITE_INT64 ? ((const int64_t *)lengths)[batch] : ((const int32_t *)lengths)[batch];
  return length < 0 ? 0 : length > plan->time ? plan->time : length;
}

static void load_state(const float *from, int64_t at, int64_t size, float *to) {
  if (from == NULL) {
    memset(to, 0, (size_t)size * sizeof *to);
  } else {
    memcpy(to, from + at * size, (size_t)size * sizeof *to);
  }
}

/* Computes all time steps of one sequence in one direction. */
static void run_sequence(const recurrent_derived *n, const mslite_run *run, int32_t part) {
  const mslite_recurrent_plan *plan = &n->plan;
  const int64_t direction = part / plan->batch;
  const int64_t batch = part % plan->batch;
  const int64_t units = plan->gates * plan->hidden;
  const int64_t length = sequence_length(n, run, batch);
  const int64_t state = direction * n->state_direction + batch * n->state_batch;
  const size_t bytes = (size_t)plan->state * sizeof(float);
  const bool reverse = direction == 1 || plan->first_reverse;
  recurrent_space s;
  s.gates = run->scratch;
  s.product = s.gates + units;
  s.h = s.product + units;
  s.next = s.h + plan->state;
  s.c = s.next + plan->state;
  s.full = s.c + plan->hidden;
  s.rounded = s.full + plan->hidden;
  load_state(offset(run, plan->initial_hidden, 0), state, plan->state, s.h);
  if (plan->cell == RECURRENT_LSTM) load_state(offset(run, plan->initial_cell, 0), state, plan->hidden, s.c);
  float *y = (float *)run->outputs[0] + direction * n->y_direction + batch * n->y_batch;
  for (int64_t step = 0; step < length; ++step) {
    const int64_t time = reverse ? length - 1 - step : step;
    const float *input = (const float *)run->shared + ((direction * plan->time + time) * plan->batch + batch) * units;
    if (plan->cell == RECURRENT_LSTM) {
      step_lstm(n, run, direction, input, &s);
    } else if (plan->cell == RECURRENT_GRU) {
      step_gru(n, run, direction, input, &s);
    } else {
      step_rnn(n, run, direction, input, &s);
    }
    memcpy(y + time * n->y_time, s.h, bytes);
  }
  for (int64_t time = length; time < plan->time; ++time) memset(y + time * n->y_time, 0, bytes);
  if (n->hidden_output >= 0) memcpy((float *)run->outputs[n->hidden_output] + state * plan->state, s.h, bytes);
  if (n->cell_output >= 0) {
    memcpy((float *)run->outputs[n->cell_output] + state * plan->hidden, s.c, (size_t)plan->hidden * sizeof(float));
  }
}

static void recurrent_run(const mslite_run *run, int32_t phase, int32_t part) {
  if (phase == 0) {
    project(run->derived, run, part);
  } else {
    run_sequence(run->derived, run, part);
  }
}

#define RECURRENT(function, operator)                               \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(recurrent_derived),                    \
      .support = recurrent_support,                                 \
      .prepare = recurrent_prepare,                                 \
      .run = recurrent_run,                                         \
  };

RECURRENT(lstm_f32, LSTM)
RECURRENT(gru_f32, GRU)
RECURRENT(rnn_sequence_f32, RNNSequence)
RECURRENT(lstm_sequence_f32, LSTMSequence)
RECURRENT(gru_sequence_f32, GRUSequence)
