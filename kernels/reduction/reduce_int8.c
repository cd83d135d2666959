/* ReduceFusion on quantized integers (int8, also for unsigned source models, and int16): the preparation of sums,
 * means, minima and maxima, and the product.
 *
 * Arithmetic: TensorFlow Lite's reference kernels. Sums and means rescale the sum minus the zero points, a mean by a
 * factor that is divided by the number of elements; a product rescales each step, so that it does not overflow. (The
 * reference's Sum reads signed integers as unsigned bytes; here the intended result is computed.) */
#include "reduction/reduce_int8.h"

#include <math.h>
#include <string.h>

#include "movement.h"
#include "quantized.h"

enum { PART_WORK = 16384 };

static int32_t mode_of(const mslite_node *node) { return ((const mslite_ReduceFusion *)node->params)->mode; }

static bool plan_of(const mslite_node *node, mslite_reduce_plan *plan) {
  const mslite_tensor *axes = node->input_count > 1 ? node->inputs[1] : NULL;
  return mslite_plan_reduce(node->inputs[0], axes, ((const mslite_ReduceFusion *)node->params)->reduce_to_end, plan);
}

static bool takes_operands(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  if (type != MSLITE_INT8 && type != MSLITE_INT16) return false;
  if (!mslite_is_quantized(node->inputs[0], type) || !mslite_is_quantized(node->outputs[0], type)) return false;
  return node->input_count < 2 || node->inputs[1] == NULL || node->inputs[1]->data != NULL;
}

int32_t mslite_stored_reduce_support(const mslite_node *node) {
  switch (mode_of(node)) {
    case MSLITE_REDUCE_MODE_REDUCE_MEAN:
    case MSLITE_REDUCE_MODE_REDUCE_SUM:
    case MSLITE_REDUCE_MODE_REDUCE_MAX:
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
      return takes_operands(node);
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, mslite_stored_reduce *numbers, int64_t block,
                             mslite_schedule *schedule) {
  memset(numbers, 0, sizeof *numbers);
  mslite_reduce_plan *plan = &numbers->plan;
  if (!plan_of(node, plan)) return MSLITE_ERROR_VALUE;
  const mslite_quant *from = node->inputs[0]->quant, *to = node->outputs[0]->quant;
  numbers->type = node->inputs[0]->type;
  numbers->mode = mode_of(node);
  mslite_quantized_limits(numbers->type, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, to, &numbers->low, &numbers->high);
  numbers->from_zero = from->zero_point;
  numbers->to_zero = to->zero_point;
  numbers->empty = numbers->type == MSLITE_INT8 && to->source_type == MSLITE_UINT8 ? INT8_MIN : 0;
  numbers->factor = mslite_result_multiplier(to, from->scale / to->scale);
  numbers->is_rescaled = !mslite_same_quant(node->inputs[0], node->outputs[0]);
  const bool is_mean = numbers->mode == MSLITE_REDUCE_MODE_REDUCE_MEAN;
  if (is_mean || numbers->mode == MSLITE_REDUCE_MODE_REDUCE_SUM) {
    numbers->is_rescaled = true;
    numbers->from_zero = (int32_t)(uint32_t)((uint64_t)plan->reduced * (uint64_t)(int64_t)from->zero_point);
    if (is_mean && plan->reduced > 0)
      numbers->factor = to->rounds_even ? mslite_result_multiplier(to, from->scale / to->scale / (double)plan->reduced)
                                        : mslite_divide_multiplier(numbers->factor, plan->reduced);
  }
  const int64_t together = plan->inner < block ? plan->inner : block;
  numbers->blocks = (plan->inner + block - 1) / block;
  numbers->items = plan->outer * numbers->blocks;
  numbers->per_part = PART_WORK / (plan->reduced * together + 1) + 1;
  const int64_t parts = (numbers->items + numbers->per_part - 1) / numbers->per_part;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)parts;
  return MSLITE_OK;
}

mslite_status mslite_stored_reduce_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare(node, derived, MSLITE_REDUCE_BLOCK, schedule);
}

/* ---- product ---- */

static int32_t product_support(const mslite_node *node) {
  return mode_of(node) == MSLITE_REDUCE_MODE_REDUCE_PROD && takes_operands(node);
}

static mslite_status product_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_stored_reduce *numbers = derived;
  const mslite_status status = prepare(node, numbers, 1, schedule);
  if (status != MSLITE_OK) return status;
  const double root = numbers->plan.reduced > 0 ? 1.0 / (double)numbers->plan.reduced : 1.0;
  numbers->factor = mslite_make_multiplier(node->inputs[0]->quant->scale / pow(node->outputs[0]->quant->scale, root));
  numbers->empty = numbers->to_zero;
  return MSLITE_OK;
}

static int32_t load(const mslite_stored_reduce *numbers, const void *x, int64_t at) {
  return numbers->type == MSLITE_INT8 ? ((const int8_t *)x)[at] : ((const int16_t *)x)[at];
}

static int32_t product(const mslite_stored_reduce *numbers, const void *x, int64_t offset) {
  const mslite_reduce_plan *plan = &numbers->plan;
  bool is_first = true;
  int32_t result = 0;
  for (int64_t r = 0; r < plan->runs; ++r) {
    const int64_t row = offset + mslite_reduce_run_offset(plan, r);
    for (int64_t i = 0; i < plan->length; ++i) {
      const int32_t value = load(numbers, x, row + i * plan->length_stride) - numbers->from_zero;
      result = is_first ? value : mslite_rescale_wide((int64_t)result * value, numbers->factor);
      is_first = false;
    }
  }
  if (is_first) return numbers->empty;
  return mslite_clamp(mslite_rescale_wide(result, numbers->factor) + numbers->to_zero, numbers->low, numbers->high);
}

static void product_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_stored_reduce *numbers = run->derived;
  const mslite_reduce_plan *plan = &numbers->plan;
  const int64_t begin = part * numbers->per_part;
  const int64_t end = numbers->items - begin < numbers->per_part ? numbers->items : begin + numbers->per_part;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t offset = mslite_reduce_kept_offset(plan, i / plan->inner) + i % plan->inner;
    const int32_t result = product(numbers, run->inputs[0], offset);
    if (numbers->type == MSLITE_INT8) {
      ((int8_t *)run->outputs[0])[i] = (int8_t)result;
    } else {
      ((int16_t *)run->outputs[0])[i] = (int16_t)result;
    }
  }
}

MSLITE_QUANTIZED_KERNEL(reduce_product_int8, ReduceFusion, mslite_stored_reduce, product_support, product_prepare,
                        product_run, NULL)
