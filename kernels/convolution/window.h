/* Sliding windows: how kernel, stride, dilation and padding map one spatial axis to another. Shared by the shape
 * rules and the kernels of convolution and pooling, so that they agree. */
#ifndef MSLITE_WINDOW_H
#define MSLITE_WINDOW_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One spatial axis. mslite_read_axis fills it from attributes; then `input` is set and the rest is resolved. */
typedef struct {
  int64_t input;      /* size before */
  int64_t output;     /* size after */
  int64_t kernel;     /* taps */
  int64_t stride;     /* >= 1 */
  int64_t dilation;   /* >= 1 */
  int64_t pad_before; /* negative: cropped */
  int64_t pad_after;
} mslite_axis;

/* Returns entry `index` of a list attribute, or `otherwise` if the list is absent or too short. */
int64_t mslite_list_entry(mslite_longs list, int32_t index, int64_t otherwise);

/* Reads axis 0 (height) or 1 (width) from [h, w] lists and a [top, bottom, left, right] list. A kernel that is not
 * in the file is 0. Returns MSLITE_ERROR_ATTRIBUTE if a stride, dilation or size is out of range. */
mslite_status mslite_read_axis(int32_t index, mslite_longs kernel, mslite_longs stride, mslite_longs dilation,
                               mslite_longs pads, mslite_axis *axis);

/* Returns the number of input elements that the taps span. */
int64_t mslite_axis_span(const mslite_axis *axis);

/* Sets `output` and the padding of a convolution or pooling axis from `input`. `ceiling` rounds the size up: the
 * last window, or the only one, may end after the padded input, but must begin inside of the input. Returns
 * MSLITE_ERROR_SHAPE if there is no window. */
mslite_status mslite_resolve_axis(mslite_axis *axis, int32_t pad_mode, bool ceiling);

/* As mslite_resolve_axis, for a transposed convolution: output = (input - 1) * stride + span - padding + extra. */
mslite_status mslite_resolve_transposed_axis(mslite_axis *axis, int32_t pad_mode, int64_t extra);

/* Finds the taps [begin, end) of the window at output position `at` that are inside of the input. */
static inline void mslite_window_taps(const mslite_axis *axis, int64_t at, int64_t *begin, int64_t *end) {
  const int64_t first = at * axis->stride - axis->pad_before;
  const int64_t room = axis->input - first;
  *begin = 0;
  *end = axis->kernel;
  if (first >= 0 && room > (axis->kernel - 1) * axis->dilation) return; /* the usual case, without slow divisions */
  *begin = first < 0 ? (-first + axis->dilation - 1) / axis->dilation : 0;
  *end = room <= 0 ? 0 : (room + axis->dilation - 1) / axis->dilation;
  if (*end > axis->kernel) *end = axis->kernel;
  if (*begin > *end) *begin = *end;
}

#ifdef __cplusplus
}
#endif

#endif
