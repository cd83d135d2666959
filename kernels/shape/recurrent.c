/* Shape rules of the recurrent operators. */
#include "recurrent/recurrent_plan.h"
#include "shape/shape.h"

/* The last state: [directions, batch, size], or [batch, directions, size] if the batch comes first. */
static void state_shape(const mslite_recurrent_plan *plan, int64_t size, mslite_tensor *state) {
  state->rank = 3;
  state->dims[plan->batch_first ? 1 : 0] = plan->directions;
  state->dims[plan->batch_first ? 0 : 1] = plan->batch;
  state->dims[2] = size;
}

/* Returns whether all sizes of a weight are known. */
static bool is_told(const mslite_tensor *weight) { return weight->rank >= 0 && mslite_element_count(weight) >= 0; }

/* For weights that are not constant, only the ranks are known. */
static mslite_status untold(mslite_shape_context *context, bool joined, mslite_tensor *const *outputs,
                            int32_t output_count) {
  for (int32_t i = 0; i < output_count; ++i) {
    outputs[i]->type = MSLITE_FLOAT32;
    outputs[i]->rank = i == 0 && !joined ? 4 : i < 3 ? 3 : 1;
    for (int32_t d = 0; d < outputs[i]->rank; ++d) outputs[i]->dims[d] = mslite_new_symbol(context);
  }
  return MSLITE_OK;
}

static mslite_status recurrent(mslite_shape_context *context, int32_t op, const void *params,
                               const mslite_tensor *const *inputs, int32_t input_count, mslite_tensor *const *outputs,
                               int32_t output_count) {
  mslite_recurrent_plan plan;
  mslite_tensor x = *inputs[0];
  if (x.rank < 0) {
    x.rank = 3;
    for (int32_t i = 0; i < 3; ++i) x.dims[i] = mslite_new_symbol(context);
  }
  const mslite_tensor *known[MSLITE_MAX_OPERANDS];
  if (input_count > MSLITE_MAX_OPERANDS) return MSLITE_ERROR_SHAPE;
  for (int32_t i = 0; i < input_count; ++i) known[i] = i == 0 ? &x : inputs[i];
  const bool flat = op == MSLITE_OP_LSTM && input_count == 4;
  if (input_count > 2 && (flat ? !is_told(inputs[3]) : !is_told(inputs[1]) || !is_told(inputs[2]))) {
    return untold(context, flat, outputs, output_count);
  }
  const char *why = mslite_plan_recurrent(op, params, known, input_count, &plan);
  if (why != NULL) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%s", why);
  for (int32_t i = 0; i < output_count; ++i) {
    outputs[i]->type = x.type;
    outputs[i]->rank = 1; /* outputs that only training uses are empty */
    outputs[i]->dims[0] = 0;
  }
  mslite_tensor *y = outputs[0];
  if (plan.joined) {
    y->rank = 3;
    y->dims[0] = plan.time;
    y->dims[1] = plan.batch;
    y->dims[2] = plan.directions * plan.state;
  } else {
    y->rank = 4;
    y->dims[0] = plan.batch_first ? plan.batch : plan.time;
    y->dims[1] = plan.batch_first ? plan.time : plan.directions;
    y->dims[2] = plan.batch_first ? plan.directions : plan.batch;
    y->dims[3] = plan.state;
  }
  if (output_count > 1) state_shape(&plan, plan.state, outputs[1]);
  if (output_count > 2 && plan.cell == RECURRENT_LSTM) state_shape(&plan, plan.hidden, outputs[2]);
  return MSLITE_OK;
}

#define RECURRENT_RULE(name, operator)                                                                   \
  MSLITE_SHAPE_RULE(name) {                                                                              \
    return recurrent(context, MSLITE_OP_##operator, params, inputs, input_count, outputs, output_count); \
  }

RECURRENT_RULE(mslite_shape_of_lstm, LSTM)
RECURRENT_RULE(mslite_shape_of_gru, GRU)
RECURRENT_RULE(mslite_shape_of_rnn_sequence, RNNSequence)
RECURRENT_RULE(mslite_shape_of_lstm_sequence, LSTMSequence)
RECURRENT_RULE(mslite_shape_of_gru_sequence, GRUSequence)

static bool is_equal(int64_t a, int64_t b) { return a == b || mslite_is_symbol(a) || mslite_is_symbol(b); }

MSLITE_SHAPE_RULE(mslite_shape_of_stored_svdf) {
  const int64_t rank = ((const mslite_StoredSVDF *)params)->rank;
  if (input_count < 4 || output_count != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x, weights over features and time, and a state are needed");
  const mslite_tensor *x = inputs[0], *feature = inputs[1], *time = inputs[2], *state = inputs[3];
  if (x->rank != 2 || feature->rank != 2 || time->rank != 2 || state->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "all of them must have 2 dimensions");
  const int64_t filters = feature->dims[0], memory = time->dims[1];
  if (filters < 0 || memory < 1 || rank < 1 || filters % rank != 0 || time->dims[0] != filters)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the weights do not match the rank");
  if (!is_equal(x->dims[1], feature->dims[1]) || !is_equal(state->dims[0], x->dims[0]) ||
      !is_equal(state->dims[1], filters * memory))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the weights do not match the input and the state");
  if (input_count > 4 && !is_equal(mslite_element_count(inputs[4]), filters / rank))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the bias has a wrong shape");
  outputs[0]->type = MSLITE_INT8;
  outputs[0]->rank = 2;
  outputs[0]->dims[0] = x->dims[0];
  outputs[0]->dims[1] = filters / rank;
  outputs[1]->type = MSLITE_INT16;
  mslite_same_shape(state, outputs[1]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_stored_lstm_cell) {
  (void)params;
  if (input_count != 5 || output_count != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x, weights, a bias and both states are needed");
  const mslite_tensor *x = inputs[0], *weight = inputs[1], *hidden = inputs[3], *cell = inputs[4];
  if (x->rank != 2 || weight->rank != 2 || hidden->rank != 2 || cell->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "all of them must have 2 dimensions");
  const int64_t units = weight->dims[0] / 4;
  if (units < 1 || weight->dims[0] % 4 != 0 || weight->dims[1] <= units)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the weights must have four gates");
  if (!is_equal(x->dims[1], weight->dims[1] - units) || !is_equal(hidden->dims[1], units) ||
      !is_equal(cell->dims[1], units) || !is_equal(hidden->dims[0], x->dims[0]) ||
      !is_equal(cell->dims[0], x->dims[0]) || !is_equal(mslite_element_count(inputs[2]), 4 * units))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the weights do not match the input and the states");
  outputs[0]->type = MSLITE_INT8;
  mslite_same_shape(hidden, outputs[0]);
  outputs[1]->type = MSLITE_INT16;
  mslite_same_shape(cell, outputs[1]);
  return MSLITE_OK;
}
