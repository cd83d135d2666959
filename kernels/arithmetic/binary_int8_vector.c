/* The hot binary operators on stored int8 with rows of several elements: the same bits as binary_int8.c. */
#include "arithmetic/binary_int8.h"
#include "math/fixed_point_simd.h"
#include "simd/narrow.h"

enum { BLOCK = 2 * SIMD_WIDTH };

typedef struct {
  simd_multiplier a, b, y;
  simd_i32 zero_a, zero_b;
  int32_t left;
  simd_narrow_limits limits;
} row_numbers;

static int32_t support(const mslite_node *node) {
  if (node->outputs[0]->type != MSLITE_INT8) return 0;
  return mslite_support_binary_int8(node) != 0 ? 2 : 0;
}

SIMD_INLINE simd_i32 load_bytes(const int8_t *p) {
#if SIMD_WIDTH == 1
  return *p;
#else
  int8_t __attribute__((vector_size(SIMD_WIDTH))) v;
  memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, simd_i32);
#endif
}

/* p and q without their zero points. */
SIMD_INLINE simd_i32 computed(int32_t operation, const row_numbers *n, simd_i32 p, simd_i32 q) {
  switch (operation) {
    case MSLITE_STORED_ADD:
      p = simd_rescale(p << n->left, &n->a) + simd_rescale(q << n->left, &n->b);
      return simd_rescale(p, &n->y);
    case MSLITE_STORED_SUB:
      p = simd_rescale(p << n->left, &n->a) - simd_rescale(q << n->left, &n->b);
      return simd_rescale(p, &n->y);
    case MSLITE_STORED_MUL:
      return simd_rescale(p * q, &n->y);
    default: {
      const simd_i32 negative = p >> 31;
      return (simd_rescale(p, &n->a) & ~negative) | (simd_rescale(p * q, &n->b) & negative);
    }
  }
}

SIMD_INLINE void compute_block(int32_t operation, const row_numbers *n, const int8_t *a, int64_t step_a,
                               const int8_t *b, int64_t step_b, int8_t *y) {
  simd_i32 r[2];
  SIMD_UNROLL for (int32_t v = 0; v < 2; ++v) {
    const simd_i32 p = (step_a != 0 ? load_bytes(a + v * SIMD_WIDTH) : simd_set_i32(*a)) - n->zero_a;
    const simd_i32 q = (step_b != 0 ? load_bytes(b + v * SIMD_WIDTH) : simd_set_i32(*b)) - n->zero_b;
    r[v] = computed(operation, n, p, q);
  }
  simd_narrow(r, 2, &n->limits, y);
}

SIMD_INLINE void run_row(int32_t operation, const row_numbers *n, const int8_t *a, int64_t step_a, const int8_t *b,
                         int64_t step_b, int8_t *y, int64_t count) {
  int64_t i = 0;
  for (; i + BLOCK <= count; i += BLOCK)
    compute_block(operation, n, a + i * step_a, step_a, b + i * step_b, step_b, y + i);
  if (i == count) return;
  int8_t rest_a[BLOCK] = {0}, rest_b[BLOCK] = {0}, rest_y[BLOCK];
  memcpy(rest_a, a + i * step_a, step_a != 0 ? (size_t)(count - i) : 1);
  memcpy(rest_b, b + i * step_b, step_b != 0 ? (size_t)(count - i) : 1);
  compute_block(operation, n, rest_a, step_a, rest_b, step_b, rest_y);
  memcpy(y + i, rest_y, (size_t)(count - i));
}

#define ROWS(operation)                                                                                   \
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))         \
    run_row(operation, &row, (const int8_t *)run->inputs[0] + at.offset[0], step_a,                       \
            (const int8_t *)run->inputs[1] + at.offset[1], step_b, (int8_t *)run->outputs[0] + at.at, n); \
  break

SIMD_INLINE simd_multiplier spread(mslite_multiplier factor) {
  return simd_make_multiplier(simd_set_i32(factor.value), simd_set_i32(factor.shift));
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_binary_int8 *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  const row_numbers row = {spread(numbers->a),
                           spread(numbers->b),
                           spread(numbers->y),
                           simd_set_i32(numbers->zero_a),
                           simd_set_i32(numbers->zero_b),
                           numbers->left,
                           simd_make_narrow_limits(numbers->zero_y, numbers->low, numbers->high)};
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  switch (numbers->operation) {
    case MSLITE_STORED_ADD:
      ROWS(MSLITE_STORED_ADD);
    case MSLITE_STORED_SUB:
      ROWS(MSLITE_STORED_SUB);
    case MSLITE_STORED_MUL:
      ROWS(MSLITE_STORED_MUL);
    default:
      ROWS(MSLITE_STORED_PRELU);
  }
}

#define BINARY(operator_)                                                            \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_binary_row_int8_##operator_) = { \
      .name = MSLITE_ISA_STRING(binary_row_int8_##operator_),                        \
      .op = MSLITE_OP_##operator_,                                                   \
      .isa = MSLITE_THIS_ISA,                                                        \
      .derived_size = sizeof(mslite_binary_int8),                                    \
      .support = support,                                                            \
      .prepare = mslite_prepare_binary_int8,                                         \
      .run = run_part,                                                               \
      .in_place = mslite_broadcast_in_place,                                         \
      .quantised = 1,                                                                \
  };

BINARY(AddFusion)
BINARY(SubFusion)
BINARY(MulFusion)
BINARY(PReLUFusion)
