/* Sliding windows: output sizes and padding of one spatial axis. */
#include "convolution/window.h"

enum { LARGEST_ATTRIBUTE = 1 << 24 }; /* so that no product in this file exceeds 64 bits */

int64_t mslite_list_entry(mslite_longs list, int32_t index, int64_t otherwise) {
  return index < list.count ? list.at[index] : otherwise;
}

mslite_status mslite_read_axis(int32_t index, mslite_longs kernel, mslite_longs stride, mslite_longs dilation,
                               mslite_longs pads, mslite_axis *axis) {
  axis->kernel = mslite_list_entry(kernel, index, 0);
  axis->stride = mslite_list_entry(stride, index, 1);
  axis->dilation = mslite_list_entry(dilation, index, 1);
  axis->pad_before = mslite_list_entry(pads, 2 * index, 0);
  axis->pad_after = mslite_list_entry(pads, 2 * index + 1, 0);
  const bool legal = axis->kernel >= 0 && axis->kernel <= LARGEST_ATTRIBUTE && axis->stride >= 1 &&
                     axis->stride <= LARGEST_ATTRIBUTE && axis->dilation >= 1 && axis->dilation <= LARGEST_ATTRIBUTE &&
                     axis->pad_before >= -LARGEST_ATTRIBUTE && axis->pad_before <= LARGEST_ATTRIBUTE &&
                     axis->pad_after >= -LARGEST_ATTRIBUTE && axis->pad_after <= LARGEST_ATTRIBUTE;
  return legal ? MSLITE_OK : MSLITE_ERROR_ATTRIBUTE;
}

int64_t mslite_axis_span(const mslite_axis *axis) { return (axis->kernel - 1) * axis->dilation + 1; }

/* Splits the total padding; an odd element is added at the end. */
static void split_padding(mslite_axis *axis, int64_t total) {
  if (total < 0) total = 0;
  axis->pad_before = total / 2;
  axis->pad_after = total - total / 2;
}

mslite_status mslite_resolve_axis(mslite_axis *axis, int32_t pad_mode, bool ceiling) {
  const int64_t span = mslite_axis_span(axis);
  if (axis->kernel < 1 || axis->input > INT64_MAX / 4) return MSLITE_ERROR_SHAPE;
  if (axis->input == 0 && pad_mode != MSLITE_PAD_MODE_PAD) {
    axis->output = axis->pad_before = axis->pad_after = 0;
    return MSLITE_OK;
  }
  if (pad_mode == MSLITE_PAD_MODE_SAME) {
    axis->output = (axis->input + axis->stride - 1) / axis->stride;
    split_padding(axis, (axis->output - 1) * axis->stride + span - axis->input);
    return MSLITE_OK;
  }
  if (pad_mode == MSLITE_PAD_MODE_VALID) axis->pad_before = axis->pad_after = 0;
  const int64_t room = axis->input + axis->pad_before + axis->pad_after - span + (ceiling ? axis->stride - 1 : 0);
  if (room < 0) return MSLITE_ERROR_SHAPE;
  axis->output = room / axis->stride + 1;
  if (ceiling && (axis->output - 1) * axis->stride >= axis->input + axis->pad_before) --axis->output;
  return axis->output >= 1 ? MSLITE_OK : MSLITE_ERROR_SHAPE;
}

mslite_status mslite_resolve_transposed_axis(mslite_axis *axis, int32_t pad_mode, int64_t extra) {
  if (axis->kernel < 1 || extra < 0 || extra > LARGEST_ATTRIBUTE || axis->input > ((int64_t)1 << 31)) {
    return MSLITE_ERROR_SHAPE;
  }
  const int64_t full = (axis->input - 1) * axis->stride + mslite_axis_span(axis);
  if (pad_mode == MSLITE_PAD_MODE_SAME) {
    axis->output = axis->input * axis->stride;
    split_padding(axis, full - axis->output);
    axis->output += extra;
  } else {
    if (pad_mode == MSLITE_PAD_MODE_VALID) axis->pad_before = axis->pad_after = 0;
    axis->output = full - axis->pad_before - axis->pad_after + extra;
  }
  return axis->output >= 1 ? MSLITE_OK : MSLITE_ERROR_SHAPE;
}
