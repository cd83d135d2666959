/* Convolution of quantized int8 as a GEMM (convolution/conv2d_gather.h). */
#include "convolution/conv2d_gather.h"
#include "convolution/stored.h"
#include "quantized.h"

typedef struct {
  conv2d_rows rows;
  gemm_int8_plan plan;
  int8_t x_zero;
} conv2d_int8_derived;

/* Not depthwise convolutions: their GEMMs would have one column and few terms. */
static int32_t conv2d_int8_support(const mslite_node *node) {
  if (!mslite_quantized_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  return dims[3] == 1 && dims[0] == attributes.group ? 0 : 2;
}

static mslite_int8_channel channel_of(const mslite_node *node, int64_t index) {
  const mslite_stored_channel from = mslite_stored_channel_of(node, index);
  const mslite_int8_channel numbers = {(int32_t)from.bias, from.weight_zero, from.factor, 0};
  return numbers;
}

static int64_t conv2d_int8_pack_size(const mslite_node *node, int32_t input) {
  return input == 1 ? conv2d_pack_size(node) : 0;
}

static void conv2d_int8_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_int8_weights weights;
  if (input != 1 || !conv2d_weights(node, &weights)) return;
  weights.x_zero = node->inputs[0]->quant->zero_point;
  mslite_pack_int8(node, source, &weights, &gemm_int8_layout, channel_of, packed);
}

static mslite_status conv2d_int8_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_int8_derived *own = derived;
  gemm_int8_plan *plan = &own->plan;
  const mslite_status status = conv2d_plan_rows(node, &own->rows, plan);
  if (status != MSLITE_OK) return status;
  const mslite_stored_numbers numbers = mslite_stored_numbers_of(node);
  own->x_zero = (int8_t)numbers.x_zero;
  plan->y_zero = numbers.y_zero;
  plan->low = numbers.low;
  plan->high = numbers.high;
  plan->is_whole = false;
  plan->has_zeros = mslite_has_zero_points(node->inputs[1]);
  return conv2d_schedule(&own->rows, plan, schedule);
}

static void stage(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k, int64_t length,
                  int64_t step, dot_element *to) {
  const conv2d_int8_derived *own = run->derived;
  conv2d_gather(&own->rows, run->inputs[0], &own->x_zero, 0, group, row, count, k, length, step, to);
}

static void conv2d_int8_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_int8_derived *own = run->derived;
  gemm_int8_part(run, &own->plan, stage, own->rows.geometry.group, part);
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_gemm_int8) = {
    .name = MSLITE_ISA_STRING(conv2d_gemm_int8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(conv2d_int8_derived),
    .support = conv2d_int8_support,
    .prepare = conv2d_int8_prepare,
    .pack_size = conv2d_int8_pack_size,
    .pack = conv2d_int8_pack,
    .run = conv2d_int8_run,
    .quantized = 1,
};
