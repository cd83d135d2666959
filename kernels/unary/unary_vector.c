/* float32 unary functions. */
#include "simd/simd.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
} unary_derived;

static int32_t unary_support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_FLOAT32; }

static mslite_status unary_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static int32_t unary_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

SIMD_INLINE simd_f32 unary_abs(simd_f32 x) { return simd_as_f32(simd_as_i32(x) & simd_set_i32(0x7fffffff)); }

/* The tail goes through the vector body, so an element's value does not depend on where a part begins. */
#define UNARY(operator, function)                                                                    \
  static void function##_run(const mslite_run *run, int32_t phase, int32_t part) {                   \
    (void)phase;                                                                                     \
    const unary_derived *numbers = run->derived;                                                     \
    const int64_t begin = (int64_t)part * PART_ELEMENTS;                                             \
    const int64_t end = begin + PART_ELEMENTS < numbers->count ? begin + PART_ELEMENTS : numbers->count; \
    const float *x = run->inputs[0];                                                                 \
    float *y = run->outputs[0];                                                                      \
    int64_t i = begin;                                                                               \
    for (; i + SIMD_WIDTH <= end; i += SIMD_WIDTH) simd_store(y + i, function(simd_load(x + i)));    \
    if (i < end) {                                                                                   \
      const int32_t rest = (int32_t)(end - i);                                                       \
      simd_store_partial(y + i, function(simd_load_partial(x + i, rest)), rest);                     \
    }                                                                                                \
  }                                                                                                  \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = {                            \
      .name = MSLITE_ISA_STRING(function##_f32),                                                     \
      .op = MSLITE_OP_##operator,                                                                    \
      .isa = MSLITE_THIS_ISA,                                                                        \
      .derived_size = sizeof(unary_derived),                                                         \
      .support = unary_support,                                                                      \
      .prepare = unary_prepare,                                                                      \
      .run = function##_run,                                                                         \
      .in_place = unary_in_place,                                                                    \
  };

UNARY(Abs, unary_abs)
