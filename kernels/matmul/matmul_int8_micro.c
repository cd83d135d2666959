/* Matmuls of quantized int8 with constant weights on microcontrollers. y is [rows, n], x is [rows, k]; all rows are
 * one part. */
#include "matmul/product_micro.h"
#include "matmul/stored.h"
#include "quantized.h"

typedef struct {
  micro_layer layer;
  int32_t rows;
} product_derived;

static void product_channel(const mslite_node *node, int64_t channel, micro_channel *numbers);

static micro_weights product_weights(const mslite_node *node) {
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  const bool once = mslite_stored_rescale_kind(node) == MSLITE_RESCALE_REAL;
  const micro_weights rows = {node->inputs[1]->data, dims[0], dims[1], dims[1], 1, product_channel, once};
  const micro_weights columns = {node->inputs[1]->data, dims[1], dims[0], 1, dims[1], product_channel, once};
  return attributes.transpose_b ? rows : columns;
}

static void product_channel(const mslite_node *node, int64_t channel, micro_channel *numbers) {
  const mslite_stored_column column = mslite_stored_column_of(node, channel);
  const micro_weights weights = product_weights(node);
  const int8_t *w = weights.w + channel * weights.channel_step;
  int64_t sum = 0, magnitude = 0;
  for (int64_t k = 0; k < weights.terms; ++k) {
    const int32_t value = w[k * weights.term_step];
    sum += value;
    magnitude += value < 0 ? -value : value;
  }
  micro_set_channel(numbers, column.bias, node->inputs[0]->quant->zero_point, sum, magnitude);
  numbers->factor = column.fixed;
  numbers->real = column.factor;
}

static int32_t product_support(const mslite_node *node) {
  if (!mslite_quantized_matmul_fits(node, MSLITE_INT8, MSLITE_INT8)) return 0;
  const mslite_tensor *b = node->inputs[1];
  if (b->data == NULL || b->rank != 2 || mslite_has_zero_points(b)) return 0;
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const micro_weights weights = product_weights(node);
  return !attributes.transpose_a && weights.terms > 0 && micro_weights_fit(node, &weights);
}

static int64_t product_pack_size(const mslite_node *node, int32_t input) {
  const micro_weights weights = product_weights(node);
  return input == 1 ? micro_packed_size(node, &weights) : input == 2 ? -1 : 0;
}

static void product_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  micro_weights weights = product_weights(node);
  weights.w = source;
  if (input == 1) micro_pack(node, &weights, packed);
}

static mslite_status product_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  product_derived *own = derived;
  mslite_matmul product;
  const mslite_status status = mslite_matmul_of(node, &product);
  if (status != MSLITE_OK) return status;
  const int64_t rows = product.batch * product.m;
  if (product.k > INT32_MAX / 16 || product.n > INT32_MAX / 16 || rows > INT32_MAX / (product.k + product.n)) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  const mslite_quant *record = node->outputs[0]->quant;
  int32_t low, high;
  if (!mslite_quantized_limits(MSLITE_INT8, product.activation, record, &low, &high)) return MSLITE_ERROR_ATTRIBUTE;
  memset(own, 0, sizeof *own);
  const micro_weights weights = product_weights(node);
  micro_make_layer(node, &weights, record->zero_point, low, high, &own->layer);
  own->rows = (int32_t)rows;
  schedule->phase_count = 1;
  schedule->part_count[0] = rows > 0;
  schedule->scratch_bytes = micro_staging_size(&own->layer, rows);
  return MSLITE_OK;
}

static void product_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const product_derived *own = run->derived;
  micro_product product;
  micro_begin(&product, &own->layer, run->inputs[1], run->scratch);
  const int8_t *x = run->inputs[0];
  int8_t *y = run->outputs[0];
  for (int32_t rest = own->rows; rest > 0; rest -= own->layer.rows) {
    const int32_t rows = rest < own->layer.rows ? rest : own->layer.rows;
    for (int32_t i = 0; i < rows; ++i, x += own->layer.terms) micro_stage(&product, i, rows, x);
    micro_run_rows(&product, rows, y, y + own->layer.channels);
    y += rows * own->layer.channels;
  }
}

/* With this distance y, which grows faster than x is read, does not overwrite unread rows. */
static int64_t product_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  const product_derived *own = derived;
  if (input != 0) return -1;
  int64_t lead = 0;
  for (int64_t row = 0; row < own->rows; row += own->layer.rows) {
    const int64_t next = row + own->layer.rows < own->rows ? row + own->layer.rows : own->rows;
    const int64_t read = MICRO_STAGES ? next : row; /* rows of x that are not read any more */
    if (read == own->rows) break;
    const int64_t distance = next * own->layer.channels - read * own->layer.terms;
    if (distance > lead) lead = distance;
  }
  return lead;
}

#define PRODUCT_INT8(function, operator)                            \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(product_derived),                      \
      .support = product_support,                                   \
      .prepare = product_prepare,                                   \
      .pack_size = product_pack_size,                               \
      .pack = product_pack,                                         \
      .run = product_run,                                           \
      .quantized = 1,                                               \
      .lead = product_lead,                                         \
  };

PRODUCT_INT8(matmul_int8, MatMulFusion)
PRODUCT_INT8(full_connection_int8, FullConnection)
