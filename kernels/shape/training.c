/* Shape rules of gradients, losses and optimizers. */
#include "shape/shape.h"

/* The shape of dy, or of an optimizer's weight. */
MSLITE_SHAPE_RULE(mslite_shape_of_gradient) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

/* One bit per element. */
MSLITE_SHAPE_RULE(mslite_shape_of_gate_mask) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_UINT8;
  outputs[0]->rank = 1;
  int64_t count = 1;
  for (int32_t i = 0; i < inputs[0]->rank && count >= 0; ++i) {
    count = inputs[0]->dims[i] < 0 ? -1 : count * inputs[0]->dims[i];
  }
  outputs[0]->dims[0] = inputs[0]->rank < 0 || count < 0 ? mslite_new_symbol(context) : (count + 7) / 8;
  return MSLITE_OK;
}

/* The shapes of operand `first` and the next one. */
static mslite_status of_two(const mslite_tensor *const *inputs, int32_t first, mslite_tensor *const *outputs,
                            int32_t output_count) {
  for (int32_t i = 0; i < output_count && i < 2; ++i) mslite_same_shape(inputs[first + i], outputs[i]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_binary_gradient) {
  (void)context, (void)params, (void)input_count;
  return of_two(inputs, 1, outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_extremum_gradient) {
  (void)context, (void)params, (void)input_count;
  return of_two(inputs, 0, outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_bias_gradient) {
  (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *dy = inputs[0];
  if (dy->rank == 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the gradient must have a dimension");
  outputs[0]->type = dy->type;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = dy->rank < 0 ? mslite_new_symbol(context) : dy->dims[dy->rank - 1];
  return MSLITE_OK;
}

/* The shape is the contents of operand 2. */
MSLITE_SHAPE_RULE(mslite_shape_of_convolution_gradient) {
  (void)params, (void)output_count;
  outputs[0]->type = inputs[0]->type;
  if (input_count < 3 || inputs[2] == NULL) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the third operand must be the shape of the result");
  }
  const mslite_status status = mslite_shape_from_contents(context, inputs[2], outputs[0]);
  if (status == MSLITE_OK && outputs[0]->rank >= 0 && outputs[0]->rank != 4) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the result must have 4 dimensions, not %d",
                             (int)outputs[0]->rank);
  }
  return status;
}

/* Operand 1 is the image before resizing, or its height and width. */
MSLITE_SHAPE_RULE(mslite_shape_of_resize_gradient) {
  (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *dy = inputs[0], *like = inputs[1];
  outputs[0]->type = dy->type;
  if (like->rank == 4) {
    mslite_same_shape(like, outputs[0]);
    outputs[0]->type = dy->type;
    return MSLITE_OK;
  }
  int64_t sizes[2] = {mslite_new_symbol(context), mslite_new_symbol(context)};
  int32_t count = 2;
  (void)mslite_read_entries(like, sizes, 2, &count);
  if ((like->rank >= 0 && (like->rank != 1 || count != 2)) || (dy->rank >= 0 && dy->rank != 4)) {
    return mslite_shape_fail(
        context, MSLITE_ERROR_SHAPE,
        "the gradient must have 4 dimensions, and operand 1 must be an image or a height and a width");
  }
  outputs[0]->rank = 4;
  for (int32_t i = 0; i < 4; i += 3) outputs[0]->dims[i] = dy->rank < 0 ? mslite_new_symbol(context) : dy->dims[i];
  outputs[0]->dims[1] = sizes[0];
  outputs[0]->dims[2] = sizes[1];
  return MSLITE_OK;
}

/* The shape is the contents of operand 1. */
MSLITE_SHAPE_RULE(mslite_shape_of_strided_slice_gradient) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = inputs[0]->type;
  return mslite_shape_from_contents(context, inputs[1], outputs[0]);
}

/* One loss per row, [rows, 1], and the gradient. */
MSLITE_SHAPE_RULE(mslite_shape_of_softmax_cross_entropy) {
  (void)params, (void)input_count;
  const mslite_tensor *logits = inputs[0];
  if (logits->rank >= 0 && logits->rank != 2) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the logits must have 2 dimensions, not %d",
                             (int)logits->rank);
  }
  outputs[0]->type = logits->type;
  outputs[0]->rank = 2;
  outputs[0]->dims[0] = logits->rank < 0 ? mslite_new_symbol(context) : logits->dims[0];
  outputs[0]->dims[1] = 1;
  if (output_count > 1) mslite_same_shape(logits, outputs[1]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_sparse_softmax_cross_entropy) {
  (void)context, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (((const mslite_SparseSoftmaxCrossEntropyWithLogits *)params)->is_grad) return MSLITE_OK;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = 1;
  return MSLITE_OK;
}

/* A loss per element, or a single value. */
MSLITE_SHAPE_RULE(mslite_shape_of_binary_cross_entropy) {
  (void)context, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (((const mslite_BinaryCrossEntropy *)params)->reduction == MSLITE_REDUCTION_NONE) return MSLITE_OK;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = 1;
  return MSLITE_OK;
}

/* A loss per row, or a scalar; and another scalar, the sum of weights. */
MSLITE_SHAPE_RULE(mslite_shape_of_nll_loss) {
  (void)context, (void)input_count;
  for (int32_t i = 0; i < output_count; ++i) outputs[i]->type = inputs[0]->type;
  if (((const mslite_NLLLoss *)params)->reduction == MSLITE_REDUCTION_NONE) {
    mslite_same_shape(inputs[1], outputs[0]);
    outputs[0]->type = inputs[0]->type;
  }
  return MSLITE_OK;
}

/* The weight and the states of an optimizer; the states begin at operand `first`. */
static mslite_status of_optimizer(const mslite_tensor *const *inputs, int32_t first, mslite_tensor *const *outputs,
                                  int32_t output_count) {
  mslite_same_shape(inputs[0], outputs[0]);
  for (int32_t i = 1; i < output_count; ++i) mslite_same_shape(inputs[first + i - 1], outputs[i]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_sgd) {
  (void)params, (void)input_count;
  if (output_count > 3)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d outputs are not supported", (int)output_count);
  if (output_count == 3) mslite_same_shape(inputs[5], outputs[2]);
  return of_optimizer(inputs, 3, outputs, output_count < 2 ? output_count : 2);
}

MSLITE_SHAPE_RULE(mslite_shape_of_momentum) {
  (void)params, (void)input_count;
  if (output_count > 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d outputs are not supported", (int)output_count);
  return of_optimizer(inputs, 1, outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_adam) {
  (void)params, (void)input_count;
  if (output_count > 3)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d outputs are not supported", (int)output_count);
  return of_optimizer(inputs, 1, outputs, output_count);
}

/* With a seed, the mask and the next seed are outputs, too. */
MSLITE_SHAPE_RULE(mslite_shape_of_dropout) {
  (void)params;
  for (int32_t i = 0; i < output_count && i < 2; ++i) mslite_same_shape(inputs[0], outputs[i]);
  if (output_count < 3) return MSLITE_OK;
  if (output_count > 3 || input_count < 2 || inputs[1] == NULL) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d outputs of %d inputs; a third output needs a seed",
                             (int)output_count, (int)input_count);
  }
  mslite_same_shape(inputs[1], outputs[2]);
  return MSLITE_OK;
}

/* x scale offset mean variance -> y, and twice the shape of the old statistics. */
MSLITE_SHAPE_RULE(mslite_shape_of_batch_norm_training) {
  (void)params;
  if (input_count < 5)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it has %d inputs, but needs 5", (int)input_count);
  for (int32_t i = 0; i < output_count; ++i) mslite_same_shape(inputs[i == 0 ? 0 : i % 2 == 1 ? 3 : 4], outputs[i]);
  return MSLITE_OK;
}

/* The shapes of x, scale and offset: operands 1, 2, 2. */
MSLITE_SHAPE_RULE(mslite_shape_of_batch_norm_gradient) {
  (void)params;
  if (input_count < 5)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it has %d inputs, but needs 5", (int)input_count);
  for (int32_t i = 0; i < output_count; ++i) mslite_same_shape(inputs[i == 0 ? 1 : 2], outputs[i]);
  return MSLITE_OK;
}

/* The shapes of x, gamma and beta: operands 0, 4, 4. */
MSLITE_SHAPE_RULE(mslite_shape_of_layer_norm_gradient) {
  (void)params;
  if (input_count < 5)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it has %d inputs, but needs 5", (int)input_count);
  for (int32_t i = 0; i < output_count; ++i) mslite_same_shape(inputs[i == 0 ? 0 : 4], outputs[i]);
  return MSLITE_OK;
}

/* The shapes of x, the states and the weight: operands 0 to 3. */
MSLITE_SHAPE_RULE(mslite_shape_of_lstm_gradient) {
  (void)params;
  if (input_count < 4 || output_count > 4) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                             "%d inputs and %d outputs; at least 4 inputs and at most 4 outputs are supported",
                             (int)input_count, (int)output_count);
  }
  for (int32_t i = 0; i < output_count; ++i) mslite_same_shape(inputs[i], outputs[i]);
  return MSLITE_OK;
}
