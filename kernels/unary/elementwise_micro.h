/* Element-wise functions of one float32 tensor on microcontrollers: one kernel per function, so that a program
 * contains only those that it calls. The functions are those of the runtime (math/simd_math.h), with one lane. */
#ifndef MSLITE_ELEMENTWISE_MICRO_H
#define MSLITE_ELEMENTWISE_MICRO_H

#include "activation/functions.h"

typedef struct {
  int32_t count;
  float alpha, low, high;
} micro_elementwise;

static inline __attribute__((unused)) bool micro_elementwise_fits(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && mslite_element_count(node->inputs[0]) <= INT32_MAX / 16;
}

static inline __attribute__((unused)) void micro_elementwise_schedule(const mslite_node *node, micro_elementwise *own,
                                                                      mslite_schedule *schedule) {
  own->count = (int32_t)mslite_element_count(node->outputs[0]);
  schedule->phase_count = 1;
  schedule->part_count[0] = own->count > 0;
}

static inline __attribute__((unused)) int32_t micro_elementwise_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

static inline __attribute__((unused)) int64_t micro_elementwise_lead(const mslite_node *node, const void *derived,
                                                                     int32_t input) {
  (void)node;
  (void)derived;
  return input == 0 ? 0 : -1;
}

/* Defines the function `name`_run: `expression` of each element v. */
#define MICRO_ELEMENTWISE(name, expression)                                    \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) { \
    (void)phase;                                                               \
    (void)part;                                                                \
    const micro_elementwise *own = run->derived;                               \
    const float *x = run->inputs[0];                                           \
    float *y = run->outputs[0];                                                \
    for (int32_t i = own->count; i > 0; --i) {                                 \
      const float v = *x++;                                                    \
      *y++ = (expression);                                                     \
    }                                                                          \
  }

#define MICRO_ELEMENTWISE_KERNEL(kernel, operator_, support_, prepare_, run_) \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##kernel) = {             \
      .name = MSLITE_ISA_STRING(kernel),                                      \
      .op = MSLITE_OP_##operator_,                                            \
      .isa = MSLITE_THIS_ISA,                                                 \
      .derived_size = sizeof(micro_elementwise),                              \
      .support = support_,                                                    \
      .prepare = prepare_,                                                    \
      .run = run_,                                                            \
      .in_place = micro_elementwise_in_place,                                 \
      .lead = micro_elementwise_lead,                                         \
  };

#endif
