/* Reads the attributes and operands of the recurrent operators. */
#include "recurrent/recurrent_plan.h"

#include <string.h>

static const struct {
  const char *name;
  int32_t parameters; /* how many of alpha and beta it uses */
  float alpha, beta;
} functions[] = {
    {"Sigmoid", 0, 0, 0},       {"Tanh", 0, 0, 0},
    {"Relu", 0, 0, 0},          {"Affine", 2, 1, 0},
    {"LeakyRelu", 1, 0.01f, 0}, {"ThresholdedRelu", 1, 1, 0},
    {"ScaledTanh", 2, 1, 1},    {"HardSigmoid", 2, 0.2f, 0.5f},
    {"Elu", 1, 1, 0},           {"Softsign", 0, 0, 0},
    {"Softplus", 0, 0, 0},
};

static int32_t same_letter(char a, char b) {
  const int32_t x = a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a;
  const int32_t y = b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b;
  return x == y;
}

/* Returns the function whose name is the first `length` characters of `text` (case-insensitive), or -1. */
static int32_t find_function(const char *text, size_t length) {
  for (int32_t i = 0; i < (int32_t)(sizeof functions / sizeof *functions); ++i) {
    if (strlen(functions[i].name) != length) continue;
    size_t same = 0;
    while (same < length && same_letter(text[same], functions[i].name[same])) ++same;
    if (same == length) return i;
  }
  return -1;
}

/* `text` names `per_direction` functions per direction; functions with alpha and beta consume entries of these
 * lists. */
static const char *read_activations(const char *text, const mslite_floats *alpha, const mslite_floats *beta,
                                    int32_t per_direction, mslite_recurrent_plan *plan) {
  int32_t found = 0;
  int32_t alphas = 0;
  int32_t betas = 0;
  for (int32_t direction = 0; direction < 2; ++direction) {
    for (int32_t i = 0; i < per_direction; ++i) {
      const bool gate = plan->cell != RECURRENT_RNN && i == 0;
      plan->activations[direction][i].function = gate ? RECURRENT_SIGMOID : RECURRENT_TANH;
    }
  }
  while (text != NULL && *text != '\0') {
    const size_t length = strcspn(text, " ,");
    const int32_t function = find_function(text, length);
    if (function < 0) return "unknown activation";
    if (found >= per_direction * plan->directions) return "there are too many activations";
    mslite_recurrent_activation *activation = &plan->activations[found / per_direction][found % per_direction];
    activation->function = function;
    activation->alpha = functions[function].alpha;
    activation->beta = functions[function].beta;
    if (functions[function].parameters > 0 && alphas < alpha->count) activation->alpha = alpha->at[alphas++];
    if (functions[function].parameters > 1 && betas < beta->count) activation->beta = beta->at[betas++];
    ++found;
    text += length;
    text += strspn(text, " ,");
  }
  return found != 0 && found != per_direction * plan->directions ? "there are too few activations" : NULL;
}

static const char *read_direction(const char *direction, mslite_recurrent_plan *plan) {
  plan->directions = 1;
  if (direction == NULL || strcmp(direction, "forward") == 0) return NULL;
  if (strcmp(direction, "reverse") == 0) {
    plan->first_reverse = 1;
    return NULL;
  }
  plan->directions = 2;
  return strcmp(direction, "bidirectional") == 0 ? NULL : "unknown direction";
}

/* Returns the index of the next operand if it exists. */
static int32_t take(bool there, int32_t *next) { return there ? (*next)++ : -1; }

static bool is_size(int64_t size, int64_t expected) {
  return size == expected || mslite_is_symbol(size) || mslite_is_symbol(expected);
}

static bool has_count(const mslite_tensor *tensor, int64_t expected) {
  const int64_t count = mslite_element_count(tensor);
  return tensor->rank < 0 || count < 0 || is_size(count, expected);
}

static const char *check_states(const mslite_tensor *const *inputs, const mslite_recurrent_plan *plan) {
  const int64_t states = mslite_is_symbol(plan->batch) ? plan->batch : plan->batch * plan->directions;
  const int64_t state_size = mslite_is_symbol(states) ? states : states * plan->state;
  const int64_t cell_size = mslite_is_symbol(states) ? states : states * plan->hidden;
  if (plan->initial_hidden >= 0 && !has_count(inputs[plan->initial_hidden], state_size))
    return "the initial hidden state has a wrong shape";
  if (plan->initial_cell >= 0 && !has_count(inputs[plan->initial_cell], cell_size))
    return "the initial cell state has a wrong shape";
  return NULL;
}

/* Reads the sizes from x and the separate weights [directions, gates * hidden, input] and [directions, gates *
 * hidden, state]. */
static const char *read_weights(const mslite_tensor *const *inputs, mslite_recurrent_plan *plan) {
  const mslite_tensor *w = inputs[plan->weight_input];
  const mslite_tensor *r = inputs[plan->weight_hidden];
  if (w->rank != 3 || r->rank != 3 || r->dims[1] <= 0 || r->dims[2] <= 0 || w->dims[2] < 0) {
    return "the weights must have 3 known dimensions";
  }
  const int64_t rows = r->dims[1];
  plan->hidden = rows / plan->gates;
  plan->state = r->dims[2];
  if (rows % plan->gates != 0 || w->dims[1] != rows || w->dims[0] != plan->directions ||
      r->dims[0] != plan->directions) {
    return "the shapes of the weights do not match";
  }
  if (!is_size(plan->input, w->dims[2])) return "the weights do not match the input";
  plan->input = w->dims[2];
  if (plan->projection < 0 && plan->state != plan->hidden) return "the weights of the hidden state have a wrong shape";
  for (int32_t i = 0; i < plan->directions; ++i) {
    plan->weight_input_at[i] = i * rows * plan->input;
    plan->weight_hidden_at[i] = i * rows * plan->state;
    plan->projection_at[i] = i * plan->state * plan->hidden;
    plan->bias_at[i] = plan->bias < 0 ? -1 : i * 2 * rows;
    plan->hidden_bias_at[i] = plan->bias < 0 ? -1 : i * 2 * rows + rows;
  }
  for (int32_t i = 0; i < 4; ++i) plan->place[i] = i;
  if (plan->bias >= 0 && !has_count(inputs[plan->bias], plan->directions * 2 * rows))
    return "the bias has a wrong shape";
  if (plan->lengths >= 0 && !has_count(inputs[plan->lengths], plan->batch))
    return "there must be one length per sequence";
  const char *why = check_states(inputs, plan);
  if (why != NULL) return why;
  if (plan->peepholes >= 0 && !has_count(inputs[plan->peepholes], plan->directions * 3 * plan->hidden))
    return "the peepholes have a wrong shape";
  if (plan->projection >= 0 && !has_count(inputs[plan->projection], plan->directions * plan->state * plan->hidden))
    return "the projection has a wrong shape";
  if (plan->projection_bias >= 0 && !has_count(inputs[plan->projection_bias], plan->directions * plan->state))
    return "the projection's bias has a wrong shape";
  if (plan->normalization >= 0 && !has_count(inputs[plan->normalization], plan->directions * rows))
    return "the normalization has a wrong shape";
  if (plan->lengths >= 0) plan->lengths_type = inputs[plan->lengths]->type;
  return NULL;
}

/* MINDIR's LSTM(x, h0, c0, weights): one flat vector with gates i f g o, ordered by direction (with two biases, as
 * on GPUs) or by kind (with one bias, as on CPUs); its length tells which. */
static const char *read_flat_lstm(const mslite_LSTM *attributes, const mslite_tensor *const *inputs,
                                  mslite_recurrent_plan *plan) {
  static const int32_t place[4] = {0, 3, 1, 2};
  const int64_t projected = attributes->proj_size;
  const int64_t limit = 1 << 28; /* so that products of three sizes fit 64 bits */
  plan->hidden = attributes->hidden_size;
  if (plan->hidden <= 0 || plan->hidden > limit || projected < 0 || projected > limit) return "hidden_size is invalid";
  plan->state = projected > 0 ? projected : plan->hidden;
  if (mslite_is_symbol(plan->input)) plan->input = attributes->input_size;
  if (plan->input <= 0 || plan->input > limit) return "input_size is invalid";
  plan->joined = 1;
  plan->initial_hidden = 1;
  plan->initial_cell = 2;
  plan->weight_input = plan->weight_hidden = 3;
  memcpy(plan->place, place, sizeof place);
  if (projected > 0) plan->projection = 3;
  if (attributes->has_bias) plan->bias = 3;
  const int64_t rows = 4 * plan->hidden;
  const int64_t w = rows * plan->input;
  const int64_t r = rows * plan->state;
  const int64_t p = projected > 0 ? plan->state * plan->hidden : 0;
  const int64_t bias = attributes->has_bias ? rows : 0;
  const int64_t total = mslite_element_count(inputs[3]);
  const int64_t directions = plan->directions;
  const bool by_kind = total == directions * (w + r + p + bias);
  if (!by_kind && total != directions * (w + r + p + 2 * bias)) return "the weights have the wrong length";
  for (int64_t i = 0; i < directions; ++i) {
    const int64_t all = directions;
    plan->weight_input_at[i] = by_kind ? i * w : i * (w + r);
    plan->weight_hidden_at[i] = by_kind ? all * w + i * r : i * (w + r) + w;
    plan->projection_at[i] = all * (w + r) + i * p;
    plan->bias_at[i] = bias == 0 ? -1 : all * (w + r + p) + i * (by_kind ? rows : 2 * rows);
    plan->hidden_bias_at[i] = bias == 0 || by_kind ? -1 : plan->bias_at[i] + rows;
  }
  return check_states(inputs, plan);
}

static const char *read_lstm(const mslite_LSTM *attributes, const mslite_tensor *const *inputs, int32_t input_count,
                             mslite_recurrent_plan *plan) {
  const mslite_floats none = {0, NULL};
  plan->cell = RECURRENT_LSTM;
  plan->gates = 4;
  plan->directions = attributes->bidirectional ? 2 : 1;
  const char *why = read_activations(NULL, &none, &none, 3, plan);
  if (why != NULL) return why;
  if (attributes->num_layers > 1) return "several layers in one operator are not supported";
  if (attributes->zoneout_cell != 0 || attributes->zoneout_hidden != 0) return "zoneout is not supported";
  if (input_count == 4) return read_flat_lstm(attributes, inputs, plan);
  plan->weight_input = 1;
  plan->weight_hidden = 2;
  plan->bias = input_count > 3 ? 3 : -1;
  plan->initial_hidden = input_count > 4 ? 4 : -1;
  plan->initial_cell = input_count > 5 ? 5 : -1;
  plan->projection = input_count > 6 ? 6 : -1;
  return read_weights(inputs, plan);
}

static const char *read_gru(const mslite_GRU *attributes, const mslite_tensor *const *inputs, int32_t input_count,
                            mslite_recurrent_plan *plan) {
  const mslite_floats none = {0, NULL};
  plan->cell = RECURRENT_GRU;
  plan->gates = 3;
  plan->directions = attributes->bidirectional ? 2 : 1;
  plan->weight_input = 1;
  plan->weight_hidden = 2;
  plan->bias = input_count > 3 ? 3 : -1;
  plan->initial_hidden = input_count > 4 ? 4 : -1;
  plan->lengths = input_count > 5 ? 5 : -1;
  const char *why = read_activations(NULL, &none, &none, 2, plan);
  return why != NULL ? why : read_weights(inputs, plan);
}

static const char *read_lstm_sequence(const mslite_LSTMSequence *a, int32_t input_count, mslite_recurrent_plan *plan) {
  int32_t next = 3;
  plan->cell = RECURRENT_LSTM;
  plan->gates = 4;
  plan->bias = take(a->has_bias, &next);
  plan->lengths = take(a->has_sequence_lengths, &next);
  plan->initial_hidden = take(a->has_initial_hidden, &next);
  plan->initial_cell = take(a->has_initial_cell, &next);
  plan->peepholes = take(a->has_peepholes, &next);
  plan->projection = take(a->has_projection, &next);
  plan->projection_bias = take(a->has_projection_bias, &next);
  plan->normalization = take(a->has_normalization, &next);
  if (next != input_count) return "the optional inputs do not match the attributes";
  plan->clip = a->clip;
  plan->cell_clip = a->cell_clip;
  plan->projection_clip = a->projection_clip;
  plan->input_forget = a->input_forget;
  plan->rounding = (int32_t)a->rounding;
  plan->batch_first = a->layout != 0;
  const char *why = read_direction(a->direction, plan);
  if (why == NULL) why = read_activations(a->activations, &a->activation_alpha, &a->activation_beta, 3, plan);
  return why;
}

static const char *read_gru_sequence(const mslite_GRUSequence *a, int32_t input_count, mslite_recurrent_plan *plan) {
  int32_t next = 3;
  plan->cell = RECURRENT_GRU;
  plan->gates = 3;
  plan->bias = take(a->has_bias, &next);
  plan->lengths = take(a->has_sequence_lengths, &next);
  plan->initial_hidden = take(a->has_initial_hidden, &next);
  if (next != input_count) return "the optional inputs do not match the attributes";
  plan->clip = a->clip;
  plan->linear_before_reset = a->linear_before_reset;
  plan->batch_first = a->layout != 0;
  const char *why = read_direction(a->direction, plan);
  if (why == NULL) why = read_activations(a->activations, &a->activation_alpha, &a->activation_beta, 2, plan);
  return why;
}

static const char *read_rnn_sequence(const mslite_RNNSequence *a, int32_t input_count, mslite_recurrent_plan *plan) {
  int32_t next = 3;
  plan->cell = RECURRENT_RNN;
  plan->gates = 1;
  plan->bias = take(a->has_bias, &next);
  plan->lengths = take(a->has_sequence_lengths, &next);
  plan->initial_hidden = take(a->has_initial_hidden, &next);
  if (next != input_count) return "the optional inputs do not match the attributes";
  plan->clip = a->clip;
  plan->rounding = (int32_t)a->rounding;
  plan->batch_first = a->layout != 0;
  const char *why = read_direction(a->direction, plan);
  if (why == NULL) why = read_activations(a->activations, &a->activation_alpha, &a->activation_beta, 1, plan);
  return why;
}

const char *mslite_plan_recurrent(int32_t op, const void *params, const mslite_tensor *const *inputs,
                                  int32_t input_count, mslite_recurrent_plan *plan) {
  memset(plan, 0, sizeof *plan);
  plan->bias = plan->lengths = plan->initial_hidden = plan->initial_cell = -1;
  plan->peepholes = plan->projection = plan->projection_bias = plan->normalization = -1;
  plan->weight_input = 1;
  plan->weight_hidden = 2;
  if (input_count < 3) return "weights are missing";
  const mslite_tensor *x = inputs[0];
  if (x->rank != 3) return "the input must have 3 dimensions";
  plan->time = x->dims[0];
  plan->batch = x->dims[1];
  plan->input = x->dims[2];
  const char *why = NULL;
  switch (op) {
    case MSLITE_OP_LSTM:
      return read_lstm(params, inputs, input_count, plan);
    case MSLITE_OP_GRU:
      return read_gru(params, inputs, input_count, plan);
    case MSLITE_OP_LSTMSequence:
      why = read_lstm_sequence(params, input_count, plan);
      break;
    case MSLITE_OP_GRUSequence:
      why = read_gru_sequence(params, input_count, plan);
      break;
    default:
      why = read_rnn_sequence(params, input_count, plan);
  }
  if (why != NULL) return why;
  if (plan->batch_first) {
    plan->time = x->dims[1];
    plan->batch = x->dims[0];
  }
  return read_weights(inputs, plan);
}
