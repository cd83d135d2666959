/* One description for all variants of RNN, LSTM and GRU; shared by shape rules and kernels. */
#ifndef MSLITE_RECURRENT_PLAN_H
#define MSLITE_RECURRENT_PLAN_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RECURRENT_RNN, RECURRENT_LSTM, RECURRENT_GRU } mslite_recurrent_cell;

typedef enum {
  RECURRENT_SIGMOID,
  RECURRENT_TANH,
  RECURRENT_RELU,
  RECURRENT_AFFINE,
  RECURRENT_LEAKY_RELU,
  RECURRENT_THRESHOLDED_RELU,
  RECURRENT_SCALED_TANH,
  RECURRENT_HARD_SIGMOID,
  RECURRENT_ELU,
  RECURRENT_SOFTSIGN,
  RECURRENT_SOFTPLUS
} mslite_recurrent_function;

typedef struct {
  int32_t function; /* mslite_recurrent_function */
  float alpha, beta;
} mslite_recurrent_activation;

/* Sizes may be symbols in shape rules. Operands are input indices, -1 if absent. */
typedef struct {
  int32_t cell, gates, directions;
  int32_t batch_first;   /* x is [batch, time, input] */
  int32_t joined;        /* y is [time, batch, directions * state]; otherwise [time, directions, batch, state] */
  int32_t first_reverse; /* the only direction runs backwards */
  int64_t time, batch, input, hidden;
  int64_t state; /* size of the hidden state: `hidden`, or that of its projection */
  int32_t weight_input, weight_hidden, bias, lengths, initial_hidden, initial_cell, peepholes, projection,
      projection_bias, normalization;
  int32_t lengths_type;
  int32_t place[4];                                                  /* index of gate i o f c (z r h) in the weights */
  int64_t weight_input_at[2], weight_hidden_at[2], projection_at[2]; /* first element of a direction in its operand */
  int64_t bias_at[2], hidden_bias_at[2];                             /* -1: none */
  float clip, cell_clip, projection_clip;                            /* 0: none */
  int32_t input_forget, linear_before_reset;
  int32_t rounding; /* quantizes the values that weights multiply to 8 bits: see quantization/dynamic_range.h */
  mslite_recurrent_activation activations[2][3];
} mslite_recurrent_plan;

/* Reads operator `op`. Returns NULL, or the reason why it is not supported. */
const char *mslite_plan_recurrent(int32_t op, const void *params, const mslite_tensor *const *inputs,
                                  int32_t input_count, mslite_recurrent_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
