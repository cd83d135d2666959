/* Frequently used binary operators on quantized integers of 8 and 16 bits, bit-identical to binary_int8.c. */
#include "arithmetic/binary_even_int8.h"
#include "arithmetic/binary_int8.h"
#include "math/fixed_point_simd.h"
#include "simd/narrow.h"

enum { VECTORS = 2, BLOCK = VECTORS * SIMD_WIDTH };

typedef struct {
  simd_multiplier a, b, y;
  simd_i32 zero_a, zero_b;
  simd_i32 zero_y, low, high;
  simd_narrow_limits limits; /* the same for 8-bit results */
  int32_t operation;
  int32_t left;
  int32_t size_a, size_b; /* bytes per element; y has that of a */
  bool has_even_bytes;
  even_bytes even;
} row_numbers;

static int32_t support(const mslite_node *node) {
  mslite_binary_int8 numbers;
  if (mslite_support_binary_int8(node) == 0) return 0;
  mslite_set_binary_int8(node, &numbers);
  switch (numbers.operation) {
    case MSLITE_STORED_ADD:
    case MSLITE_STORED_SUB:
    case MSLITE_STORED_SQUARED:
    case MSLITE_STORED_MUL:
    case MSLITE_STORED_ADD_EVEN:
    case MSLITE_STORED_MUL_EVEN:
    case MSLITE_STORED_PRELU:
    case MSLITE_STORED_MAX:
    case MSLITE_STORED_MIN:
      return 2;
    default:
      return 0;
  }
}

#if SIMD_WIDTH == 1
SIMD_INLINE simd_i32 load_words(const char *p) { return *(const int16_t *)(const void *)p; }
SIMD_INLINE void store_word(char *p, simd_i32 v) { *(int16_t *)(void *)p = (int16_t)v; }

SIMD_INLINE simd_i32 smaller(simd_i32 a, simd_i32 b) { return a < b ? a : b; }
SIMD_INLINE simd_i32 larger(simd_i32 a, simd_i32 b) { return a < b ? b : a; }
#else
typedef int16_t simd_i16 __attribute__((vector_size(SIMD_WIDTH * 2)));

SIMD_INLINE simd_i32 load_words(const char *p) {
  simd_i16 v;
  memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, simd_i32);
}

SIMD_INLINE void store_word(char *p, simd_i32 v) {
  const simd_i16 words = __builtin_convertvector(v, simd_i16);
  memcpy(p, &words, sizeof words);
}

SIMD_INLINE simd_i32 smaller(simd_i32 a, simd_i32 b) {
  const simd_i32 mask = a < b;
  return (a & mask) | (b & ~mask);
}

SIMD_INLINE simd_i32 larger(simd_i32 a, simd_i32 b) {
  const simd_i32 mask = a < b;
  return (b & mask) | (a & ~mask);
}
#endif

SIMD_INLINE simd_i32 load(const char *p, int32_t size) {
  return size == 1 ? simd_widen((const int8_t *)p) : load_words(p);
}

/* p and q have their zero points subtracted. */
SIMD_INLINE simd_i32 prelu(const row_numbers *n, simd_i32 p, simd_i32 q) {
  const simd_i32 negative = p >> 31;
  return (simd_rescale(p, &n->a) & ~negative) | (simd_rescale(p * q, &n->b) & negative);
}

/* Rescales a vector of both operands to the common scale. */
#define SHARED(q_sign) \
  p[v] = simd_rescale(SIMD_SHIFT_LEFT(p[v], n->left), &n->a) q_sign simd_rescale(SIMD_SHIFT_LEFT(q[v], n->left), &n->b)

/* Converts integers without their zero point to float. */
#define REAL(integer, scale) (simd_from_i32(integer) * simd_as_f32((scale).value))
#define TO_EVEN(real) simd_round_even((real) / simd_as_f32(n->y.value))

#define EACH(operation, statement)                                   \
  case operation:                                                    \
    SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) { statement; } \
    break

static void compute_block(const row_numbers *n, const char *a, const char *b, char *y) {
  simd_i32 p[VECTORS], q[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
    p[v] = load(a + v * SIMD_WIDTH * n->size_a, n->size_a) - n->zero_a;
    q[v] = load(b + v * SIMD_WIDTH * n->size_b, n->size_b) - n->zero_b;
  }
  switch (n->operation) {
    EACH(MSLITE_STORED_ADD, SHARED(+); p[v] = simd_rescale(p[v], &n->y));
    EACH(MSLITE_STORED_SUB, SHARED(-); p[v] = simd_rescale(p[v], &n->y));
    EACH(MSLITE_STORED_SQUARED, SHARED(-); p[v] = simd_rescale(p[v] * p[v], &n->y));
    EACH(MSLITE_STORED_MUL, p[v] = simd_rescale(p[v] * q[v], &n->y));
    EACH(MSLITE_STORED_ADD_EVEN, p[v] = TO_EVEN(REAL(p[v], n->a) + REAL(q[v], n->b)));
    EACH(MSLITE_STORED_MUL_EVEN, p[v] = TO_EVEN(REAL(p[v], n->a) * REAL(q[v], n->b)));
    EACH(MSLITE_STORED_PRELU, p[v] = prelu(n, p[v], q[v]));
    EACH(MSLITE_STORED_MAX, p[v] = larger(p[v], q[v]));
    EACH(MSLITE_STORED_MIN, p[v] = smaller(p[v], q[v]));
    default:
      break;
  }
  if (n->size_a == 1) {
    simd_narrow(p, VECTORS, &n->limits, (int8_t *)y);
    return;
  }
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
    const simd_i32 r = smaller(larger(p[v] + n->zero_y, n->low), n->high);
    store_word(y + v * SIMD_WIDTH * 2, r);
  }
}

/* Fills 2 * BLOCK bytes with copies of one element. */
static void repeat(const char *element, int32_t size, char *block) {
  for (int32_t i = 0; i < 2 * BLOCK; i += size) memcpy(block + i, element, (size_t)size);
}

/* The last, partial block is computed in a buffer. */
static void run_row(const row_numbers *n, const char *a, int64_t step_a, const char *b, int64_t step_b, char *y,
                    int64_t count) {
  char same_a[BLOCK * 2], same_b[BLOCK * 2], rest_y[BLOCK * 2];
  if (step_a == 0) repeat(a, n->size_a, same_a);
  if (step_b == 0) repeat(b, n->size_b, same_b);
  int64_t i = 0;
  if (n->has_even_bytes) {
    const char *from_a = step_a == 0 ? same_a : a, *from_b = step_b == 0 ? same_b : b;
    i = even_bytes_run(&n->even, (const int8_t *)from_a, step_a, (const int8_t *)from_b, step_b, (int8_t *)y, count);
  }
  for (; i < count; i += BLOCK) {
    const bool whole = i + BLOCK <= count;
    const int64_t left = whole ? BLOCK : count - i;
    const char *from_a = step_a == 0 ? same_a : a + i * n->size_a, *from_b = step_b == 0 ? same_b : b + i * n->size_b;
    if (!whole && step_a != 0) from_a = memcpy(memset(same_a, 0, sizeof same_a), from_a, (size_t)(left * n->size_a));
    if (!whole && step_b != 0) from_b = memcpy(memset(same_b, 0, sizeof same_b), from_b, (size_t)(left * n->size_b));
    compute_block(n, from_a, from_b, whole ? y + i * n->size_a : rest_y);
    if (!whole) memcpy(y + i * n->size_a, rest_y, (size_t)(left * n->size_a));
  }
}

SIMD_INLINE simd_multiplier spread(mslite_multiplier factor) {
  return simd_make_multiplier(simd_set_i32(factor.value), simd_set_i32(factor.shift));
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_binary_int8 *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  row_numbers row = {spread(numbers->a),
                     spread(numbers->b),
                     spread(numbers->y),
                     simd_set_i32(numbers->zero_a),
                     simd_set_i32(numbers->zero_b),
                     simd_set_i32(numbers->zero_y),
                     simd_set_i32(numbers->low),
                     simd_set_i32(numbers->high),
                     simd_make_narrow_limits(numbers->zero_y, numbers->low, numbers->high),
                     numbers->operation,
                     numbers->left,
                     numbers->size,
                     numbers->size_b,
                     .has_even_bytes = false};
  row.has_even_bytes = even_bytes_make(numbers, &row.even);
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    run_row(&row, (const char *)run->inputs[0] + at.offset[0] * row.size_a, step_a,
            (const char *)run->inputs[1] + at.offset[1] * row.size_b, step_b,
            (char *)run->outputs[0] + at.at * row.size_a, n);
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
      .quantized = 1,                                                                \
  };

BINARY(AddFusion)
BINARY(SubFusion)
BINARY(MulFusion)
BINARY(Eltwise)
BINARY(Maximum)
BINARY(Minimum)
BINARY(SquaredDifference)
BINARY(PReLUFusion)
