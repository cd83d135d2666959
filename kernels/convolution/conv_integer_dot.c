/* ConvInteger with constant weights as a GEMM (convolution/conv2d_gather.h). */
#include "convolution/conv2d_gather.h"
#include "convolution/conv_integer.h"

typedef struct {
  conv2d_rows rows;
  gemm_int8_plan plan;
} integer_derived;

static int32_t integer_support(const mslite_node *node) {
  if (mslite_integer_matmul_support(node) == 0) return 0;
  return node->inputs[MSLITE_B]->data != NULL && node->inputs[MSLITE_B]->rank == 4 ? 2 : 0;
}

static mslite_int8_channel channel_of(const mslite_node *node, int64_t index) {
  (void)node, (void)index;
  const mslite_int8_channel nothing = {0};
  return nothing;
}

static int64_t integer_pack_size(const mslite_node *node, int32_t input) {
  return input == MSLITE_B ? conv2d_pack_size(node) : 0;
}

static void integer_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_int8_weights weights;
  if (input != MSLITE_B || !conv2d_weights(node, &weights)) return;
  weights.x_zero = GEMM_INT8_WHOLE_ZERO;
  weights.flip = node->inputs[MSLITE_B]->type == MSLITE_UINT8 ? 128 : 0;
  mslite_pack_int8(node, source, &weights, &gemm_int8_layout, channel_of, packed);
}

static mslite_status integer_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  integer_derived *own = derived;
  gemm_int8_plan *plan = &own->plan;
  mslite_status status = conv2d_plan_rows(node, &own->rows, plan);
  if (status == MSLITE_OK) status = mslite_conv_integer_operands(node, &own->rows.geometry, &plan->operands);
  if (status != MSLITE_OK) return status;
  plan->is_whole = true;
  plan->has_zeros = !mslite_integer_b_is_symmetric(node);
  return conv2d_schedule(&own->rows, plan, schedule);
}

/* The GEMM flips the sign bits of these values, including padding. */
static void stage(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k, int64_t length,
                  int64_t step, dot_element *to) {
  const integer_derived *own = run->derived;
  const int64_t zero_step = own->plan.operands.a_zeros > 1;
  conv2d_gather(&own->rows, run->inputs[MSLITE_A], run->inputs[MSLITE_A_ZERO], zero_step, group, row, count, k, length,
                step, to);
}

static void integer_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const integer_derived *own = run->derived;
  gemm_int8_part(run, &own->plan, stage, own->rows.geometry.group, part);
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv_integer_gemm) = {
    .name = MSLITE_ISA_STRING(conv_integer_gemm),
    .op = MSLITE_OP_ConvInteger,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(integer_derived),
    .support = integer_support,
    .prepare = integer_prepare,
    .pack_size = integer_pack_size,
    .pack = integer_pack,
    .run = integer_run,
};
