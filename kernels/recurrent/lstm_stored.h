/* Operands of LSTMs on quantized integers: their indices, requirements, and packed weights. */
#ifndef MSLITE_LSTM_STORED_H
#define MSLITE_LSTM_STORED_H

#include "math/fixed_point.h"
#include "recurrent/recurrent_plan.h"

enum { LSTM_GATE_I, LSTM_GATE_O, LSTM_GATE_F, LSTM_GATE_C, LSTM_GATES };

/* The indices of the operands, from the attributes alone; -1: absent. */
typedef struct {
  int32_t bias, hidden, cell, peepholes, projection, projection_bias, normalization, count;
} mslite_lstm_places;

mslite_lstm_places mslite_lstm_places_of(const mslite_node *node);

/* Returns whether types of x, states, weights and biases and the attributes are those that all kernels on quantized
 * integers support. `wide`: 16-bit peepholes are allowed. */
bool mslite_lstm_is_stored(const mslite_node *node, bool wide);

/* Returns whether the tensor is a symmetric constant, quantized per tensor or for each of `count` units. */
bool mslite_lstm_is_weight(const mslite_tensor *tensor, int32_t type, int64_t count);

/* Returns log2 of a scale that is a power of two; otherwise 1. */
int32_t mslite_lstm_power_of(double scale);

/* Returns the scale of a constant's unit in float32. */
float mslite_lstm_scale_of(const mslite_tensor *tensor, int64_t unit);

/* Returns whether a constant has `units` scales per gate, and those of a gate differ. */
bool mslite_lstm_has_unit_scales(const mslite_tensor *tensor, int64_t units);

/* Returns a bound in steps of `scale`, at most `most`; 0: none. */
int32_t mslite_lstm_steps(float bound, float scale, int32_t most);

/* Returns the multiplier for the sums of a row of a weight. */
typedef mslite_multiplier (*mslite_lstm_factor_of)(const mslite_node *node, int32_t weight, int64_t row);

/* Packed weights: the initial value of each row's sum (bias and zero point); if `by_row`, the value and, as one
 * byte, the shift of each row's multiplier; then the rows. */
int64_t mslite_lstm_pack_size(const mslite_tensor *weight, bool by_row);

/* Sums begin with `bias` (NULL: 0) plus `zero` times the sum of the row's weights. `factor_of` is NULL if rows have
 * no multipliers of their own. */
void mslite_lstm_pack(const mslite_node *node, int32_t weight, const int32_t *bias, int32_t zero,
                      mslite_lstm_factor_of factor_of, const int8_t *rows, void *packed);

typedef struct {
  const int32_t *start, *value; /* `value` NULL: rows have no multipliers of their own */
  const int8_t *shift, *rows;
} mslite_lstm_weights;

static inline mslite_lstm_weights mslite_lstm_unpack(const void *packed, int64_t rows, bool by_row) {
  const int32_t *start = packed, *value = by_row ? start + rows : NULL;
  const int8_t *shift = (const int8_t *)(start + (by_row ? 2 : 1) * rows);
  const mslite_lstm_weights weights = {start, value, shift, shift + (by_row ? rows : 0)};
  return weights;
}

/* Returns the multiplier of a row: its own, or `shared`. */
static inline mslite_multiplier mslite_lstm_factor(const mslite_lstm_weights *weights, int64_t row,
                                                   mslite_multiplier shared) {
  if (weights->value == NULL) return shared;
  const mslite_multiplier own = {weights->value[row], weights->shift[row]};
  return own;
}

/* The layout of the sequences in x and y; strides in elements. */
typedef struct {
  mslite_recurrent_plan plan;
  int64_t x_time, x_batch, y_time, y_batch;
} mslite_lstm_frame;

/* Returns false if the operands do not match, or there are too many sequences for one phase. */
bool mslite_lstm_frame_of(const mslite_node *node, mslite_lstm_frame *frame);

/* Sets the initial states of sequence `part`; without an operand the hidden state is `zero`, the cell state 0. */
void mslite_lstm_begin(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int32_t zero,
                       int8_t *hidden, int16_t *cell);

/* Returns x of a step. */
const int8_t *mslite_lstm_input(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int64_t step);

/* Stores `hidden` as y of a step. */
void mslite_lstm_result(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, int64_t step,
                        const int8_t *hidden);

/* Stores the states after the last step. */
void mslite_lstm_end(const mslite_run *run, const mslite_lstm_frame *frame, int32_t part, const int8_t *hidden,
                     const int16_t *cell);

/* cell = forget * cell + input * candidate, with gates in Q0.15 and the cell in units of 2^shift. `input` NULL: it
 * is 1 - forget. `clip`: bound of the cell, 0: none. */
void mslite_lstm_update_cell(const int16_t *input, const int16_t *forget, const int16_t *candidate, int64_t count,
                             int32_t shift, int32_t clip, int16_t *cell);

static inline int32_t mslite_lstm_dot(int32_t start, const int8_t *a, const int8_t *b, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return (int32_t)((uint32_t)start + (uint32_t)sum);
}

#endif
