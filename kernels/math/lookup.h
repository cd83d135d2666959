/* Lookup tables of a function of quantized integers, rounded like TensorFlow Lite's reference kernels. */
#ifndef MSLITE_LOOKUP_H
#define MSLITE_LOOKUP_H

#include <stdint.h>

enum { MSLITE_LOOKUP_BYTES = 256, MSLITE_LOOKUP_STEPS = 512 };

typedef double (*mslite_real_function)(const void *numbers, double x);

/* Fills table[q + 128] for each int8 q, computed in float32. `even`: quotients round half to even, as in ONNX;
 * otherwise products with 1 / scale_y round half away from zero. */
void mslite_fill_bytes(mslite_real_function function, const void *numbers, float scale_x, int32_t zero_x, float scale_y,
                       int32_t zero_y, int32_t even, int8_t *table);

/* to[i] = table[from[i] + 128] for `rows` rows of `count` bytes each; steps are in bytes. `from` may equal `to`. */
void mslite_look_up_bytes(const int8_t *table, const int8_t *from, int64_t from_step, int8_t *to, int64_t to_step,
                          int64_t rows, int64_t count);

/* Fills a table for int16 with MSLITE_LOOKUP_STEPS + 1 points, each shifted to halve the error in the middle of a
 * step. `single`: computed in float32, otherwise in double. */
void mslite_fill_steps(mslite_real_function function, const void *numbers, double scale_x, int32_t zero_x,
                       double scale_y, int32_t zero_y, int32_t single, int16_t *table);

/* Interpolates linearly between the two points around q. */
static inline int32_t mslite_interpolate(const int16_t *table, int32_t q) {
  const int32_t at = MSLITE_LOOKUP_STEPS / 2 + (q >> 7), base = table[at];
  return (int16_t)(base + (((int16_t)(table[at + 1] - base) * (q & 127) + 64) >> 7));
}

#endif
