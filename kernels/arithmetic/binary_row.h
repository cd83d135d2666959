/* Defines functions that compute one row of an element-wise operator with two operands, for any data type. */
#ifndef MSLITE_ARITHMETIC_BINARY_ROW_H
#define MSLITE_ARITHMETIC_BINARY_ROW_H

#include <stdint.h>

/* Computes n elements of y = a op b. A step is 1, or 0 if the operand repeats one element. */
typedef void (*mslite_binary_row)(const void *a, int64_t step_a, const void *b, int64_t step_b, void *y, int64_t n);

/* Defines the row function `name`: `expression` of the elements p of a and q of b, stored as `result`. */
#define MSLITE_BINARY_ROW(name, type, result, expression)                                                 \
  static void name(const void *av, int64_t step_a, const void *bv, int64_t step_b, void *yv, int64_t n) { \
    const type *a = av, *b = bv;                                                                          \
    result *y = yv;                                                                                       \
    if (step_a == 1 && step_b == 1) {                                                                     \
      for (int64_t i = 0; i < n; ++i) {                                                                   \
        const type p = a[i], q = b[i];                                                                    \
        y[i] = expression;                                                                                \
      }                                                                                                   \
    } else if (step_a == 1) {                                                                             \
      const type q = *b;                                                                                  \
      for (int64_t i = 0; i < n; ++i) {                                                                   \
        const type p = a[i];                                                                              \
        y[i] = expression;                                                                                \
      }                                                                                                   \
    } else {                                                                                              \
      const type p = *a;                                                                                  \
      for (int64_t i = 0; i < n; ++i) {                                                                   \
        const type q = b[i * step_b];                                                                     \
        y[i] = expression;                                                                                \
      }                                                                                                   \
    }                                                                                                     \
  }

#endif
