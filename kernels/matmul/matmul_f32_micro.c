/* float32 matmuls on microcontrollers. A constant matrix b is packed, others are read in place. */
#include "activation/apply.h"
#include "matmul/geometry.h"
#include "matmul/product_f32_micro.h"

typedef struct {
  int32_t m, n, k;
  int32_t has_bias;
  int32_t activation; /* an activation other than a clamp, or MSLITE_ACTIVATION_TYPE_NO_ACTIVATION */
  float low, high;
} matmul_derived;

/* The parameters of matmuls that are read in place. */
typedef struct {
  matmul_derived matrix;
  int32_t is_packed;
  int32_t a_row, a_term, b_row, b_column;                                          /* steps in floats */
  int32_t rank;                                                                    /* batch dimensions of y */
  int32_t dims[MSLITE_MAX_RANK], a_step[MSLITE_MAX_RANK], b_step[MSLITE_MAX_RANK]; /* steps in floats */
} pair_derived;

static bool fits(const mslite_node *node, mslite_matmul *p) {
  const int64_t most = INT32_MAX / 16;
  return mslite_matmul_fits(node, MSLITE_FLOAT32, p) && mslite_element_count(node->inputs[0]) <= most &&
         mslite_element_count(node->inputs[1]) <= most && p->n <= most && p->m <= most && p->k <= most &&
         (p->m == 0 || p->n == 0 || p->batch <= most / p->m / p->n);
}

/* Returns whether b is one constant matrix and the rows of a are contiguous. */
static bool is_packed(const mslite_node *node, const mslite_matmul *p) {
  return node->inputs[1]->data != NULL && p->b_batch == 1 && !p->transpose_a;
}

static int32_t matmul_support(const mslite_node *node) {
  mslite_matmul p;
  float low, high;
  return fits(node, &p) && is_packed(node, &p) && micro_float_limits(p.activation, &low, &high) ? 8 : 0;
}

static int32_t pair_support(const mslite_node *node) {
  mslite_matmul p;
  float low, high;
  return fits(node, &p) && micro_float_limits(p.activation, &low, &high) ? 6 : 0;
}

static int32_t active_support(const mslite_node *node) {
  mslite_matmul p;
  return fits(node, &p) && mslite_can_apply_activation(p.activation) ? 5 : 0;
}

static int64_t matmul_pack_size(const mslite_node *node, int32_t input) {
  mslite_matmul p;
  if (input != 1 || mslite_matmul_of(node, &p) != MSLITE_OK || !is_packed(node, &p)) return 0;
  return p.k * p.n * (int64_t)sizeof(float);
}

static void matmul_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_matmul p;
  if (input != 1 || mslite_matmul_of(node, &p) != MSLITE_OK) return;
  micro_float_pack(source, p.n, p.k, p.transpose_b ? p.k : 1, p.transpose_b ? 1 : p.n, packed);
}

static mslite_status set_matrix(const mslite_node *node, mslite_matmul *p, matmul_derived *own) {
  const mslite_status status = mslite_matmul_of(node, p);
  if (status != MSLITE_OK) return status;
  if (p->b_batch == 1 && !p->transpose_a && mslite_element_count(node->inputs[0]) == p->batch * p->m * p->k) {
    p->m *= p->batch; /* one b for all matrices of a: a single matmul with more rows */
    p->batch = 1;
    p->batch_rank = 0;
  }
  own->m = (int32_t)p->m;
  own->n = (int32_t)p->n;
  own->k = (int32_t)p->k;
  own->has_bias = p->has_bias;
  own->activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  if (!micro_float_limits(p->activation, &own->low, &own->high)) own->activation = p->activation;
  return MSLITE_OK;
}

static mslite_status matmul_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_matmul p;
  const mslite_status status = set_matrix(node, &p, derived);
  if (status != MSLITE_OK) return status;
  if (p.batch != 1) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = p.m > 0 && p.n > 0;
  return MSLITE_OK;
}

static mslite_status pair_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  pair_derived *own = derived;
  mslite_matmul p;
  memset(own, 0, sizeof *own);
  const mslite_status status = set_matrix(node, &p, &own->matrix);
  if (status != MSLITE_OK) return status;
  own->is_packed = is_packed(node, &p);
  own->rank = p.batch_rank;
  for (int32_t i = 0; i < p.batch_rank; ++i) {
    own->dims[i] = (int32_t)p.batch_dims[i];
    own->a_step[i] = (int32_t)(p.a_step[i] * p.m * p.k);
    own->b_step[i] = (int32_t)(p.b_step[i] * p.k * p.n);
  }
  own->a_row = (int32_t)(p.transpose_a ? 1 : p.k);
  own->a_term = (int32_t)(p.transpose_a ? p.m : 1);
  own->b_row = (int32_t)(p.transpose_b ? 1 : p.n);
  own->b_column = (int32_t)(p.transpose_b ? p.k : 1);
  schedule->phase_count = 1;
  schedule->part_count[0] = p.m == 0 || p.n == 0 ? 0 : (int32_t)p.batch;
  return MSLITE_OK;
}

/* Multiplies rows of a by columns of b. Floats that are multiplied by the same value are contiguous: those of packed
 * weights (`w_step` 0), or of a row of b. */
static void multiply_rows(const matmul_derived *own, const float *a, const float *b, int32_t w_step, const float *bias,
                          float *y) {
  micro_float_tile tile;
  memset(&tile, 0, sizeof tile);
  tile.w = b;
  tile.bias = bias;
  tile.x_step = own->k;
  tile.y_step = tile.channels = own->n;
  tile.rows = tile.taps = 1;
  tile.length = tile.terms = own->k;
  tile.w_step = w_step;
  tile.low = own->low;
  tile.high = own->high;
  for (int32_t rest = own->m; rest > 0; rest -= tile.pixels) {
    tile.pixels = rest >= MICRO_FLOAT_PIXELS ? MICRO_FLOAT_PIXELS : 1;
    tile.x = a;
    tile.y = y;
    micro_float_products(&tile);
    a += tile.pixels * own->k;
    y += tile.pixels * own->n;
  }
}

static void matmul_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const matmul_derived *own = run->derived;
  multiply_rows(own, run->inputs[0], run->inputs[1], 0, own->has_bias ? run->inputs[2] : NULL, run->outputs[0]);
}

/* Several rows are written while they and all later ones are still read. */
static int64_t matmul_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  const matmul_derived *own = derived;
  if (input != 0) return -1;
  const int64_t some = own->m < MICRO_FLOAT_PIXELS ? own->m : MICRO_FLOAT_PIXELS;
  const int64_t first = some * own->n, last = (int64_t)own->m * own->n - (own->m - some) * own->k;
  return (last > first ? last : first) * (int64_t)sizeof(float);
}

/* As multiply_rows, for any strides. */
static void multiply_numbers(const pair_derived *own, const float *a, const float *b, const float *bias, float *y) {
  const matmul_derived *matrix = &own->matrix;
  for (int32_t row = matrix->m; row > 0; --row, a += own->a_row) {
    const float *column = b;
    for (int32_t n = 0; n < matrix->n; ++n, column += own->b_column) {
      const float *p = a, *q = column;
      float sum = bias != NULL ? bias[n] : 0.0F;
      for (int32_t k = matrix->k; k > 0; --k, p += own->a_term, q += own->b_row) sum = micro_fma(*p, *q, sum);
      *y++ = micro_clamp(sum, matrix->low, matrix->high);
    }
  }
}

static void pair_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const pair_derived *own = run->derived;
  const matmul_derived *matrix = &own->matrix;
  const float *a = run->inputs[0], *b = run->inputs[1], *bias = matrix->has_bias ? run->inputs[2] : NULL;
  float *y = (float *)run->outputs[0] + part * matrix->m * matrix->n;
  for (int32_t i = own->rank - 1, rest = part; i >= 0; --i) {
    const int32_t next = rest / own->dims[i], index = rest - next * own->dims[i];
    a += index * own->a_step[i];
    b += index * own->b_step[i];
    rest = next;
  }
  if (own->is_packed) {
    multiply_rows(matrix, a, b, 0, bias, y);
  } else if (own->a_term == 1 && own->b_column == 1) {
    multiply_rows(matrix, a, b, matrix->n, bias, y);
  } else {
    multiply_numbers(own, a, b, bias, y);
  }
}

static void active_run(const mslite_run *run, int32_t phase, int32_t part) {
  const matmul_derived *matrix = &((const pair_derived *)run->derived)->matrix;
  const int32_t count = matrix->m * matrix->n;
  pair_run(run, phase, part);
  mslite_apply_activation(matrix->activation, (float *)run->outputs[0] + part * count, count);
}

#define MATMUL(function, operator_, struct_, way_support, way_prepare, way_run, way_lead) \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = {                       \
      .name = MSLITE_ISA_STRING(function),                                                \
      .op = MSLITE_OP_##operator_,                                                        \
      .isa = MSLITE_THIS_ISA,                                                             \
      .derived_size = sizeof(struct_),                                                    \
      .support = way_support,                                                             \
      .prepare = way_prepare,                                                             \
      .pack_size = matmul_pack_size,                                                      \
      .pack = matmul_pack,                                                                \
      .run = way_run,                                                                     \
      .lead = way_lead,                                                                   \
  };

MATMUL(matmul_f32, MatMulFusion, matmul_derived, matmul_support, matmul_prepare, matmul_run, matmul_lead)
MATMUL(full_connection_f32, FullConnection, matmul_derived, matmul_support, matmul_prepare, matmul_run, matmul_lead)
MATMUL(matmul_pair_f32, MatMulFusion, pair_derived, pair_support, pair_prepare, pair_run, NULL)
MATMUL(full_connection_pair_f32, FullConnection, pair_derived, pair_support, pair_prepare, pair_run, NULL)
MATMUL(matmul_active_f32, MatMulFusion, pair_derived, active_support, pair_prepare, active_run, NULL)
MATMUL(full_connection_active_f32, FullConnection, pair_derived, active_support, pair_prepare, active_run, NULL)
