/* Selects and prepares the pooling of quantized integers (int8, also for unsigned source models, and int16).
 *
 * Arithmetic: TensorFlow Lite's reference kernels. An average is the quotient of the source model's integers,
 * rounded half away from zero. If the result has other quantization parameters, the sum minus the zero point is
 * rescaled in float64. Averages of ONNX are always computed from such sums, rescaled in float32 and rounded half to
 * even. */
#include "pooling/pool_int8.h"

#include <math.h>

#include "quantized.h"

static int32_t activation_of(const mslite_node *node) {
  switch (node->op) {
    case MSLITE_OP_AvgPoolFusion:
      return ((const mslite_AvgPoolFusion *)node->params)->activation_type;
    case MSLITE_OP_MaxPoolFusion:
      return ((const mslite_MaxPoolFusion *)node->params)->activation_type;
    case MSLITE_OP_AvgPoolExtended:
      return ((const mslite_AvgPoolExtended *)node->params)->activation_type;
    default:
      return ((const mslite_MaxPoolExtended *)node->params)->activation_type;
  }
}

int32_t mslite_stored_pool_support(const mslite_node *node) {
  if (node->input_count != 1 || node->output_count != 1) return 0;
  const int32_t type = node->inputs[0]->type;
  if (type != MSLITE_INT8 && type != MSLITE_INT16) return 0;
  if (!mslite_is_quantized(node->inputs[0], type) || !mslite_is_quantized(node->outputs[0], type)) return 0;
  int32_t low, high;
  return mslite_quantized_limits(type, activation_of(node), node->outputs[0]->quant, &low, &high);
}

mslite_status mslite_stored_pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_stored_pool *pool = derived;
  mslite_pooling *geometry = &pool->geometry;
  const mslite_status status = mslite_pooling_resolve(node->op, node->params, node->inputs[0], geometry, NULL);
  if (status != MSLITE_OK) return status;
  const int64_t rows = geometry->batch * geometry->height.output;
  /* Sums of a window are kept in 32 bits. */
  const bool is_narrow = node->inputs[0]->type == MSLITE_INT8;
  const int64_t taps = geometry->height.kernel * geometry->width.kernel;
  if (rows > INT32_MAX || taps > INT32_MAX / (is_narrow ? 512 : 131072)) return MSLITE_ERROR_UNSUPPORTED;
  const mslite_quant *from = node->inputs[0]->quant, *to = node->outputs[0]->quant;
  pool->type = node->inputs[0]->type;
  pool->domain = is_narrow && from->source_type == MSLITE_UINT8 ? 128 : 0;
  pool->from_zero = from->zero_point;
  pool->to_zero = to->zero_point;
  /* The reference treats scales as equal if they differ by less than this. */
  pool->rounds_even = to->rounds_even != 0;
  pool->is_rescaled = from->zero_point != to->zero_point || fabs(from->scale - to->scale) > 1e-6 ||
                      (pool->rounds_even && geometry->average);
  pool->factor = from->scale / to->scale;
  mslite_quantized_limits(pool->type, geometry->activation, to, &pool->low, &pool->high);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}
