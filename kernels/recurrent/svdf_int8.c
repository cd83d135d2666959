/* StoredSVDF: one step of a layer of singular value filters on quantized integers (int8 input and output, int16
 * state).
 *
 * Arithmetic: TensorFlow Lite's reference kernel. Each filter's product with x is added to its memory; the products
 * of the memory with the weights over time are summed over the `rank` filters of a unit, and rescaled once. */
#include <string.h>

#include "math/fixed_point.h"
#include "movement.h"
#include "quantized.h"

enum { X, FEATURE, TIME, STATE, BIAS };

typedef struct {
  int64_t batch, input, filters, memory, rank;
  bool has_bias;
  int32_t x_zero, y_zero;
  mslite_multiplier to_state, to_output;
} svdf_derived;

static int32_t support(const mslite_node *node) {
  const mslite_tensor *const *in = node->inputs;
  if (node->input_count < 4 || node->input_count > 5 || node->output_count != 2) return 0;
  if (!mslite_is_quantized(in[X], MSLITE_INT8) || !mslite_is_quantized(in[STATE], MSLITE_INT16)) return 0;
  if (!mslite_is_quantized(in[FEATURE], MSLITE_INT8) || !mslite_is_quantized(in[TIME], MSLITE_INT16)) return 0;
  if (in[FEATURE]->quant->zero_point != 0 || in[TIME]->quant->zero_point != 0 || in[STATE]->quant->zero_point != 0)
    return 0;
  if (node->input_count > BIAS && in[BIAS]->type != MSLITE_INT32) return 0;
  return mslite_is_quantized(node->outputs[0], MSLITE_INT8) && mslite_is_quantized(node->outputs[1], MSLITE_INT16);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *const *in = node->inputs;
  svdf_derived *n = derived;
  memset(n, 0, sizeof *n);
  n->batch = in[X]->dims[0];
  n->input = in[X]->dims[1];
  n->filters = in[FEATURE]->dims[0];
  n->memory = in[TIME]->dims[1];
  n->rank = ((const mslite_StoredSVDF *)node->params)->rank;
  n->has_bias = node->input_count > BIAS;
  n->x_zero = in[X]->quant->zero_point;
  n->y_zero = node->outputs[0]->quant->zero_point;
  const float state = (float)in[STATE]->quant->scale;
  n->to_state = mslite_make_multiplier((double)((float)in[X]->quant->scale * (float)in[FEATURE]->quant->scale / state));
  n->to_output =
      mslite_make_multiplier((double)(state * (float)in[TIME]->quant->scale / (float)node->outputs[0]->quant->scale));
  if (n->batch > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)n->batch;
  return MSLITE_OK;
}

static int32_t filtered(const svdf_derived *n, const int8_t *x, const int8_t *weight) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n->input; ++i) sum += weight[i] * (x[i] - n->x_zero);
  return mslite_clamp(mslite_rescale(sum, n->to_state), INT16_MIN, INT16_MAX);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const svdf_derived *n = run->derived;
  const int64_t memory = n->memory;
  const int8_t *x = (const int8_t *)run->inputs[X] + part * n->input;
  const int16_t *before = (const int16_t *)run->inputs[STATE] + part * n->filters * memory;
  int16_t *state = (int16_t *)run->outputs[1] + part * n->filters * memory;
  int8_t *y = (int8_t *)run->outputs[0] + part * (n->filters / n->rank);
  for (int64_t unit = 0; unit < n->filters / n->rank; ++unit) {
    uint32_t sum = n->has_bias ? (uint32_t)((const int32_t *)run->inputs[BIAS])[unit] : 0;
    for (int64_t f = unit * n->rank; f < (unit + 1) * n->rank; ++f) {
      const int16_t *weight = (const int16_t *)run->inputs[TIME] + f * memory;
      memcpy(state + f * memory, before + f * memory + 1, (size_t)(memory - 1) * sizeof *state);
      state[f * memory + memory - 1] = (int16_t)filtered(n, x, (const int8_t *)run->inputs[FEATURE] + f * n->input);
      for (int64_t i = 0; i < memory; ++i) sum += (uint32_t)(weight[i] * state[f * memory + i]);
    }
    y[unit] = (int8_t)mslite_clamp(mslite_rescale((int32_t)sum, n->to_output) + n->y_zero, INT8_MIN, INT8_MAX);
  }
}

MSLITE_QUANTIZED_KERNEL(svdf_int8, StoredSVDF, svdf_derived, support, prepare, run_part, NULL)
