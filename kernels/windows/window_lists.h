/* Windows over spatial dimensions, described by ONNX's lists: absent lists are ones, or zeros for pads. */
#ifndef MSLITE_WINDOWS_LISTS_H
#define MSLITE_WINDOWS_LISTS_H

#include "kernel.h"

enum { MSLITE_WINDOW_RANK = 6, MSLITE_WINDOW_LIMIT = 1 << 24 };

/* One entry per spatial dimension. */
typedef struct {
  int32_t rank;
  int64_t stride[MSLITE_WINDOW_RANK];
  int64_t dilation[MSLITE_WINDOW_RANK];
  int64_t begin[MSLITE_WINDOW_RANK];
  int64_t end[MSLITE_WINDOW_RANK];
} mslite_window_lists;

/* Reads entry `index` of a list that is absent or has `count` entries. */
static inline bool mslite_list_entry(const mslite_longs *list, int32_t count, int32_t index, int64_t absent,
                                     int64_t low, int64_t *value) {
  if (list->count != 0 && list->count != count) return false;
  *value = list->count == 0 ? absent : list->at[index];
  return *value >= low && *value <= MSLITE_WINDOW_LIMIT;
}

/* Returns false if a list has a wrong length or an invalid entry. */
static inline bool mslite_read_lists(int32_t rank, const mslite_longs *strides, const mslite_longs *dilations,
                                     const mslite_longs *pads, mslite_window_lists *window) {
  window->rank = rank;
  if (rank < 1 || rank > MSLITE_WINDOW_RANK) return false;
  for (int32_t i = 0; i < rank; ++i) {
    if (!mslite_list_entry(strides, rank, i, 1, 1, &window->stride[i])) return false;
    if (!mslite_list_entry(dilations, rank, i, 1, 1, &window->dilation[i])) return false;
    if (!mslite_list_entry(pads, 2 * rank, i, 0, 0, &window->begin[i])) return false;
    if (!mslite_list_entry(pads, 2 * rank, rank + i, 0, 0, &window->end[i])) return false;
  }
  return true;
}

/* Returns the positions of a window of `kernel` taps along dimension `i` of `size` elements, including padding; 0 if
 * none fits. */
static inline int64_t mslite_window_places(const mslite_window_lists *window, int32_t i, int64_t kernel, int64_t size,
                                           bool ceil_mode) {
  const int64_t room = size + window->begin[i] + window->end[i] - ((kernel - 1) * window->dilation[i] + 1) +
                       (ceil_mode ? window->stride[i] - 1 : 0);
  if (room < 0) return 0;
  int64_t places = room / window->stride[i] + 1;
  /* With rounding up, the last window may end after the padding, but must not begin in the padding at the end. */
  if (ceil_mode && (places - 1) * window->stride[i] >= size + window->begin[i]) --places;
  return places;
}

#endif
