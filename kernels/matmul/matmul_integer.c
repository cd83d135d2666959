/* Reference MatMulInteger: one row of sums at a time. */
#include "matmul/matmul_integer.h"

#include <string.h>

#include "movement.h"

mslite_status mslite_matmul_integer_of(const mslite_node *node, mslite_matmul_integer *numbers) {
  mslite_matmul *p = &numbers->product;
  mslite_status status = mslite_matmul_of(node, p);
  if (status == MSLITE_OK) status = mslite_integer_operands_of(node, p->n, &numbers->operands);
  if (status != MSLITE_OK) return status;
  const int64_t a_zeros = numbers->operands.a_zeros, b_zeros = numbers->operands.b_zeros;
  const int64_t a_rows = p->k == 0 ? 0 : mslite_element_count(node->inputs[MSLITE_A]) / p->k;
  numbers->a_zero_step = a_zeros > 1 && a_zeros == a_rows ? p->m : 0;
  numbers->b_zero_step = b_zeros > 1 && b_zeros == p->b_batch * p->n ? p->n : 0;
  const bool a_fits = a_zeros == 1 || a_zeros == p->m || numbers->a_zero_step > 0;
  return a_fits && (b_zeros == 1 || b_zeros == p->n || numbers->b_zero_step > 0) ? MSLITE_OK : MSLITE_ERROR_SHAPE;
}

static mslite_status matmul_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_matmul_integer *own = derived;
  const mslite_status status = mslite_matmul_integer_of(node, own);
  if (status != MSLITE_OK) return status;
  const int64_t rows = own->product.batch * own->product.m;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = own->product.n == 0 ? 0 : (int32_t)rows;
  schedule->scratch_bytes = own->product.n * (int64_t)sizeof(uint32_t);
  return MSLITE_OK;
}

static void matmul_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_matmul_integer *own = run->derived;
  const mslite_matmul *p = &own->product;
  const mslite_integer_operands *operands = &own->operands;
  const int64_t row = part % p->m;
  int64_t matrix_a, matrix_b;
  mslite_matmul_matrices(p, part / p->m, &matrix_a, &matrix_b);
  const uint8_t *a = (const uint8_t *)run->inputs[MSLITE_A] + (matrix_a * p->m + row) * p->k;
  const uint8_t *b = (const uint8_t *)run->inputs[MSLITE_B] + matrix_b * p->k * p->n;
  const uint8_t *b_zero = (const uint8_t *)run->inputs[MSLITE_B_ZERO] + matrix_b * own->b_zero_step;
  /* Index of the row scale, too. */
  const int64_t a_zero_at = operands->a_zeros > 1 ? matrix_a * own->a_zero_step + row : 0;
  const int32_t a_zero = mslite_flipped_at(run->inputs[MSLITE_A_ZERO], a_zero_at, operands->a_flip);
  const uint8_t a_flip = operands->a_flip, b_flip = operands->b_flip;
  uint32_t *sums = run->scratch;
  memset(sums, 0, (size_t)p->n * sizeof *sums);
  uint32_t total = 0;
  for (int64_t k = 0; k < p->k; ++k, b += p->n) {
    const int32_t factor = mslite_flipped_at(a, k, a_flip) - a_zero;
    total += (uint32_t)factor;
    if (factor == 0) continue;
    for (int64_t n = 0; n < p->n; ++n) sums[n] += (uint32_t)(factor * (int8_t)(b[n] ^ b_flip));
  }
  for (int64_t n = 0; n < p->n; ++n) {
    const int32_t zero = mslite_flipped_at(b_zero, operands->b_zeros > 1 ? n : 0, b_flip);
    const int32_t sum = (int32_t)(sums[n] - total * (uint32_t)zero);
    mslite_integer_store(run, operands, sum, a_zero_at, n, (int64_t)part * p->n + n);
  }
}

MSLITE_MOVEMENT_KERNEL(matmul_integer, MatMulInteger, mslite_matmul_integer, mslite_integer_matmul_support,
                       matmul_prepare, matmul_run, NULL)
