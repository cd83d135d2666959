/* Shared by the kernel and the shape rule of Dft. */
#ifndef MSLITE_SIGNAL_DFT_H
#define MSLITE_SIGNAL_DFT_H

#include "known_values.h"

/* Finds the axis, counted from the front, from its operand or the attribute. Returns false if it is not constant;
 * -1: invalid. */
static inline bool mslite_dft_axis(const mslite_Dft *attributes, const mslite_tensor *const *inputs,
                                   int32_t input_count, int32_t *axis) {
  int64_t wanted = attributes->axis;
  if (input_count > 2 && (!mslite_known_value(inputs[2], 0, &wanted) || mslite_is_symbol(wanted))) return false;
  *axis = mslite_normalize_axis(wanted, inputs[0]->rank);
  if (*axis == inputs[0]->rank - 1) *axis = -1;
  return true;
}

/* Reads the operand `length`, 0 if there is none. Returns false if it is not constant. */
static inline bool mslite_dft_given_length(const mslite_tensor *const *inputs, int32_t input_count, int64_t *length) {
  *length = 0;
  return input_count < 2 || (mslite_known_value(inputs[1], 0, length) && !mslite_is_symbol(*length));
}

/* Returns the length of the transform of `size` elements. */
static inline int64_t mslite_dft_length(const mslite_Dft *attributes, int64_t given, int64_t size) {
  if (given != 0) return given;
  return attributes->inverse && attributes->onesided ? 2 * (size - 1) : size;
}

/* Returns the number of output elements. */
static inline int64_t mslite_dft_size(const mslite_Dft *attributes, int64_t length) {
  return attributes->onesided && !attributes->inverse ? length / 2 + 1 : length;
}

#endif
