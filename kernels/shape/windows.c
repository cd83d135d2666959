/* Shape rules of windows over [batch, channels, spatial...]. */
#include "windows/window_lists.h"

#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_col2im) {
  (void)output_count;
  const mslite_Col2Im *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "Col2Im needs three inputs");
  if (x->rank >= 0 && x->rank != 3) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the blocks have %d dimensions, not 3", (int)x->rank);
  }
  const int64_t rank = mslite_entry_count(inputs[1]);
  if (rank < 0) return MSLITE_OK;
  mslite_window_lists window;
  if (rank > MSLITE_WINDOW_RANK ||
      !mslite_read_lists((int32_t)rank, &attributes->strides, &attributes->dilations, &attributes->pads, &window)) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "strides, dilations or pads do not match %lld dimensions",
                             (long long)rank);
  }
  mslite_unknown_dims(context, 2 + (int32_t)rank, y);
  if (x->rank == 3) y->dims[0] = x->dims[0];
  int64_t block = 1;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t size;
    if (mslite_known_value(inputs[1], i, &size) && (size >= 0 || mslite_is_symbol(size))) y->dims[2 + i] = size;
    if (!mslite_known_value(inputs[2], i, &size)) {
      block = mslite_new_symbol(context);
    } else if (!mslite_is_symbol(size) && (size < 1 || size > MSLITE_WINDOW_LIMIT)) {
      return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "a block of %lld elements is invalid", (long long)size);
    } else {
      block = mslite_size_multiply(context, block, size);
    }
  }
  if (x->rank == 3 && !mslite_size_divide(context, x->dims[1], block, &y->dims[1])) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                             "blocks of %lld elements do not divide dimension 1 of size %lld", (long long)block,
                             (long long)x->dims[1]);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_deform_conv) {
  (void)output_count;
  const mslite_DeformConv *attributes = params;
  mslite_tensor *y = outputs[0];
  y->type = inputs[0]->type;
  mslite_window_lists window;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "DeformConv needs at least three inputs");
  for (int32_t i = 0; i < 3; ++i) {
    if (inputs[i]->rank >= 0 && inputs[i]->rank != 4) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "input %d has %d dimensions, not 4", (int)i,
                               (int)inputs[i]->rank);
    }
  }
  if (!mslite_read_lists(2, &attributes->strides, &attributes->dilations, &attributes->pads, &window)) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "invalid strides, dilations or pads");
  }
  mslite_unknown_dims(context, 4, y);
  if (inputs[0]->rank == 4) y->dims[0] = inputs[0]->dims[0];
  if (inputs[1]->rank == 4) y->dims[1] = inputs[1]->dims[0];
  for (int32_t i = 0; i < 2; ++i) {
    if (inputs[2]->rank == 4) y->dims[2 + i] = inputs[2]->dims[2 + i];
    if (inputs[0]->rank != 4 || inputs[1]->rank != 4) continue;
    const int64_t size = inputs[0]->dims[2 + i], kernel = inputs[1]->dims[2 + i];
    if (mslite_is_symbol(size) || mslite_is_symbol(kernel)) continue;
    const int64_t places =
        kernel < 1 || kernel > MSLITE_WINDOW_LIMIT ? 0 : mslite_window_places(&window, i, kernel, size, false);
    if (!mslite_is_symbol(y->dims[2 + i]) && y->dims[2 + i] != places) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the offsets are for %lld positions, but there are %lld",
                               (long long)y->dims[2 + i], (long long)places);
    }
    y->dims[2 + i] = places;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_max_pool_with_indices) {
  (void)input_count;
  const mslite_MaxPoolWithIndices *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  mslite_same_shape(x, y);
  if (output_count > 1) {
    outputs[1]->rank = -1;
    outputs[1]->type = MSLITE_INT64;
  }
  if (x->rank < 0) return MSLITE_OK;
  mslite_window_lists window;
  const int32_t rank = x->rank - 2;
  if (rank < 1 || attributes->kernel_size.count != rank ||
      !mslite_read_lists(rank, &attributes->strides, &attributes->dilations, &attributes->pads, &window)) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the window does not match %d dimensions", (int)x->rank);
  }
  for (int32_t i = 0; i < rank; ++i) {
    const int64_t kernel = attributes->kernel_size.at[i], size = x->dims[2 + i];
    if (kernel < 1 || kernel > MSLITE_WINDOW_LIMIT || window.begin[i] >= kernel * window.dilation[i] ||
        window.end[i] >= kernel * window.dilation[i]) {
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "a window is inside of its padding");
    }
    y->dims[2 + i] = mslite_is_symbol(size) ? mslite_new_symbol(context)
                                            : mslite_window_places(&window, i, kernel, size, attributes->ceil_mode);
  }
  if (output_count > 1) {
    mslite_same_shape(y, outputs[1]);
    outputs[1]->type = MSLITE_INT64;
  }
  return MSLITE_OK;
}
