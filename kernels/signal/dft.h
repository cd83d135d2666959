/* What the kernel and the shape rule of Dft share. */
#ifndef MSLITE_SIGNAL_DFT_H
#define MSLITE_SIGNAL_DFT_H

#include "known.h"

/* The axis counted from the front, from its operand or the attribute. False when it is computed; -1: impossible. */
static inline bool mslite_dft_axis(const mslite_Dft *attributes, const mslite_tensor *const *inputs,
                                   int32_t input_count, int32_t *axis) {
  int64_t wanted = attributes->axis;
  if (input_count > 2 && (!mslite_known_value(inputs[2], 0, &wanted) || mslite_is_symbol(wanted))) return false;
  *axis = mslite_normalize_axis(wanted, inputs[0]->rank);
  if (*axis == inputs[0]->rank - 1) *axis = -1;
  return true;
}

/* The operand `length`, 0 when there is none. False when it is computed. */
static inline bool mslite_dft_given_length(const mslite_tensor *const *inputs, int32_t input_count, int64_t *length) {
  *length = 0;
  return input_count < 2 || (mslite_known_value(inputs[1], 0, length) && !mslite_is_symbol(*length));
}

/* The length of the transform of `size` numbers. */
static inline int64_t mslite_dft_length(const mslite_Dft *attributes, int64_t given, int64_t size) {
  if (given != 0) return given;
  return attributes->inverse && attributes->onesided ? 2 * (size - 1) : size;
}

/* How many numbers come out of it. */
static inline int64_t mslite_dft_size(const mslite_Dft *attributes, int64_t length) {
  return attributes->onesided && !attributes->inverse ? length / 2 + 1 : length;
}

#endif
