/* Products of stored int8 with constant weights on microcontrollers. y is [rows, n], x is [rows, k]; all rows are one
 * part. */
#include "matmul/product_micro.h"
#include "matmul/stored.h"
#include "quantised.h"

typedef struct {
  micro_layer layer;
  int32_t rows;
} product_derived;

/* Where weight [channel, term] lies. */
typedef struct {
  int64_t channels, terms, channel_step, term_step;
} weights_layout;

static weights_layout layout_of(const mslite_node *node) {
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  const weights_layout rows = {dims[0], dims[1], dims[1], 1}, columns = {dims[1], dims[0], 1, dims[1]};
  return attributes.transpose_b ? rows : columns;
}

static void channel_of(const mslite_node *node, int64_t channel, micro_channel *numbers) {
  const mslite_stored_column column = mslite_stored_column_of(node, channel);
  const weights_layout layout = layout_of(node);
  const int8_t *w = (const int8_t *)node->inputs[1]->data + channel * layout.channel_step;
  int64_t sum = 0, magnitude = 0;
  for (int64_t k = 0; k < layout.terms; ++k) {
    const int32_t value = w[k * layout.term_step];
    sum += value;
    magnitude += value < 0 ? -value : value;
  }
  micro_set_channel(numbers, column.bias, node->inputs[0]->quant->zero_point, sum, magnitude);
  numbers->factor = column.fixed;
  numbers->real = column.factor;
}

static int32_t make_table(const mslite_node *node, void *table) {
  const bool once = mslite_stored_rescale_kind(node) == MSLITE_RESCALE_REAL;
  return micro_make_table(node, layout_of(node).channels, channel_of, once, table);
}

static int32_t product_support(const mslite_node *node) {
  if (!mslite_stored_product_fits(node, MSLITE_INT8, MSLITE_INT8)) return 0;
  const mslite_tensor *b = node->inputs[1];
  if (b->data == NULL || b->rank != 2 || mslite_has_zero_points(b)) return 0;
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const weights_layout layout = layout_of(node);
  if (attributes.transpose_a || layout.terms < 1) return 0;
  if (!micro_weights_fit(b->data, layout.channels, layout.terms, layout.channel_step, layout.term_step)) return 0;
  return make_table(node, NULL) < 0 ? 0 : 1;
}

static int64_t product_pack_size(const mslite_node *node, int32_t input) {
  const weights_layout layout = layout_of(node);
  if (input != 1) return 0;
  return micro_table_size(layout.channels) + micro_weights_size(layout.channels, layout.terms);
}

static void product_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const weights_layout layout = layout_of(node);
  make_table(node, packed);
  micro_pack_weights(source, layout.channels, layout.terms, layout.channel_step, layout.term_step,
                     (int8_t *)packed + micro_table_size(layout.channels));
}

static mslite_status product_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  product_derived *own = derived;
  mslite_product product;
  const mslite_status status = mslite_product_of(node, &product);
  if (status != MSLITE_OK) return status;
  const int64_t rows = product.batch * product.m;
  if (product.k > INT32_MAX / 16 || product.n > INT32_MAX / 16 || rows > INT32_MAX / (product.k + product.n)) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  const mslite_quant *record = node->outputs[0]->quant;
  int32_t low, high;
  if (!mslite_stored_limits(MSLITE_INT8, product.activation, record, &low, &high)) return MSLITE_ERROR_ATTRIBUTE;
  memset(own, 0, sizeof *own);
  micro_make_layer(&own->layer, product.n, product.k, record->zero_point, low, high, make_table(node, NULL));
  own->rows = (int32_t)rows;
  schedule->phase_count = 1;
  schedule->part_count[0] = rows > 0;
  schedule->scratch_bytes = micro_staging_size(rows, product.k);
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
  for (int32_t rest = own->rows; rest > 0; rest -= MICRO_PIXELS) {
    const int32_t rows = rest < MICRO_PIXELS ? rest : MICRO_PIXELS;
    for (int32_t i = 0; i < rows; ++i, x += own->layer.terms) micro_stage(&product, i, rows, x);
    micro_run_rows(&product, rows, y, y + own->layer.channels);
    y += rows * own->layer.channels;
  }
}

/* As far before x as y then grows faster than x is used up. */
static int64_t product_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  const product_derived *own = derived;
  if (input != 0) return -1;
  int64_t lead = 0;
  for (int64_t row = 0; row < own->rows; row += MICRO_PIXELS) {
    const int64_t next = row + MICRO_PIXELS < own->rows ? row + MICRO_PIXELS : own->rows;
    const int64_t read = MICRO_STAGES ? next : row; /* rows of x that are of no more use */
    if (read == own->rows) break;
    const int64_t distance = next * own->layer.channels - read * own->layer.terms;
    if (distance > lead) lead = distance;
  }
  return lead;
}

#define PRODUCT_I8(function, operator)                              \
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
      .quantised = 1,                                               \
      .lead = product_lead,                                         \
  };

PRODUCT_I8(matmul_i8, MatMulFusion)
PRODUCT_I8(full_connection_i8, FullConnection)
