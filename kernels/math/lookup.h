/* Tables of a real function between stored integers, filled with the roundings of TensorFlow Lite's reference kernels.
 */
#ifndef MSLITE_LOOKUP_H
#define MSLITE_LOOKUP_H

#include <stdint.h>

enum { MSLITE_LOOKUP_BYTES = 256, MSLITE_LOOKUP_STEPS = 512 };

typedef double (*mslite_real_function)(const void *numbers, double x);

/* table[q + 128] for each int8 q, computed in single precision. `even`: quotients half-way go to the even integer, as
 * ONNX has it; else products with 1 / scale_y go away from zero. */
void mslite_fill_bytes(mslite_real_function function, const void *numbers, float scale_x, int32_t zero_x, float scale_y,
                       int32_t zero_y, int32_t even, int8_t *table);

/* to[i] = table[from[i] + 128] of `rows` rows of `count` bytes each, so many bytes apart; `from` may be `to`. */
void mslite_look_up_bytes(const int8_t *table, const int8_t *from, int64_t from_step, int8_t *to, int64_t to_step,
                          int64_t rows, int64_t count);

/* The function of int16 at MSLITE_LOOKUP_STEPS + 1 points, each moved so that the error in the middle of a step is
 * halved. `single`: computed in single precision, else in double. */
void mslite_fill_steps(mslite_real_function function, const void *numbers, double scale_x, int32_t zero_x,
                       double scale_y, int32_t zero_y, int32_t single, int16_t *table);

/* The straight line between the two points around q. */
static inline int32_t mslite_interpolate(const int16_t *table, int32_t q) {
  const int32_t at = MSLITE_LOOKUP_STEPS / 2 + (q >> 7), base = table[at];
  return (int16_t)(base + (((int16_t)(table[at + 1] - base) * (q & 127) + 64) >> 7));
}

#endif
