/* Reference matmuls for all numeric types. The fast kernels are tested against them. Integers wrap around. */
#include "convolution/fused.h"
#include "matmul/geometry.h"

/* One part is one row of one matrix of y. */
static mslite_status matmul_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_matmul *product = derived;
  const mslite_status status = mslite_matmul_of(node, product);
  if (status != MSLITE_OK) return status;
  if (product->m != 0 && product->batch > INT32_MAX / product->m) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(product->batch * product->m);
  return MSLITE_OK;
}

static bool matmul_supports(const mslite_node *node, int32_t type) {
  mslite_matmul product;
  if (!mslite_matmul_fits(node, type, &product)) return false;
  if (type == MSLITE_FLOAT32) return activation_is_fusable(product.activation);
  return product.activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
}

/* `sum_type` is unsigned for integers, so that overflow wraps around. */
#define MATMUL_RUN(name, type, sum_type, tensor_type, activate)                                                \
  static int32_t name##_support(const mslite_node *node) { return matmul_supports(node, tensor_type); }        \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {                                 \
    (void)phase;                                                                                               \
    const mslite_matmul *p = run->derived;                                                                     \
    const int64_t matrix = part / p->m, row = part % p->m;                                                     \
    int64_t matrix_a, matrix_b;                                                                                \
    mslite_matmul_matrices(p, matrix, &matrix_a, &matrix_b);                                                   \
    const type *a = (const type *)run->inputs[0] + matrix_a * p->m * p->k + row * (p->transpose_a ? 1 : p->k); \
    const type *b = (const type *)run->inputs[1] + matrix_b * p->k * p->n;                                     \
    const type *bias = p->has_bias ? run->inputs[2] : NULL;                                                    \
    const int64_t a_step = p->transpose_a ? p->m : 1;                                                          \
    const int64_t b_step = p->transpose_b ? 1 : p->n, b_column = p->transpose_b ? p->k : 1;                    \
    type *y = (type *)run->outputs[0] + (int64_t)part * p->n;                                                  \
    for (int64_t n = 0; n < p->n; ++n) {                                                                       \
      sum_type sum = 0;                                                                                        \
      for (int64_t k = 0; k < p->k; ++k) {                                                                     \
        sum += (sum_type)a[k * a_step] * (sum_type)b[n * b_column + k * b_step];                               \
      }                                                                                                        \
      if (bias != NULL) sum += (sum_type)bias[n];                                                              \
      y[n] = activate((type)sum);                                                                              \
    }                                                                                                          \
  }

#define MATMUL_ENTRY(function, runner, operator)   \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function,                           \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(mslite_matmul),       \
      .support = runner##_support,                 \
      .prepare = matmul_prepare,                   \
      .run = runner##_run,                         \
  };

#define FUSED(x) mslite_fused_activation(p->activation, x)
#define PLAIN(x) (x)

MATMUL_RUN(product_f32, float, float, MSLITE_FLOAT32, FUSED)
MATMUL_RUN(product_f64, double, double, MSLITE_FLOAT64, PLAIN)
MATMUL_RUN(product_i32, int32_t, uint32_t, MSLITE_INT32, PLAIN)
MATMUL_RUN(product_i64, int64_t, uint64_t, MSLITE_INT64, PLAIN)

MATMUL_ENTRY(matmul_f32, product_f32, MatMulFusion)
MATMUL_ENTRY(matmul_f64, product_f64, MatMulFusion)
MATMUL_ENTRY(matmul_int32, product_i32, MatMulFusion)
MATMUL_ENTRY(matmul_int64, product_i64, MatMulFusion)
MATMUL_ENTRY(full_connection_f32, product_f32, FullConnection)
