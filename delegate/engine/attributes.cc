#include "engine/attributes.h"

#include "known.h"
#include "resize/taps.h"

namespace mslite {
int32_t FusedActivation(const mslite_node &node) {
  switch (node.op) {
    case MSLITE_OP_AddFusion:
      return static_cast<const mslite_AddFusion *>(node.params)->activation_type;
    case MSLITE_OP_SubFusion:
      return static_cast<const mslite_SubFusion *>(node.params)->activation_type;
    case MSLITE_OP_MulFusion:
      return static_cast<const mslite_MulFusion *>(node.params)->activation_type;
    case MSLITE_OP_DivFusion:
      return static_cast<const mslite_DivFusion *>(node.params)->activation_type;
    default:
      return MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  }
}

bool Joins(int32_t op) { return op == MSLITE_OP_Concat || op == MSLITE_OP_Stack; }

int32_t JoinAxis(const mslite_node &node) {
  switch (node.op) {
    case MSLITE_OP_Concat:
      return mslite_normalize_axis(static_cast<const mslite_Concat *>(node.params)->axis, node.outputs[0]->rank);
    case MSLITE_OP_Stack:
      return mslite_normalize_axis(static_cast<const mslite_Stack *>(node.params)->axis, node.outputs[0]->rank);
    case MSLITE_OP_Split:
      return mslite_normalize_axis(static_cast<const mslite_Split *>(node.params)->axis, node.inputs[0]->rank);
    default:
      return mslite_normalize_axis(static_cast<const mslite_Unstack *>(node.params)->axis, node.inputs[0]->rank);
  }
}

int32_t SoftmaxAxis(const mslite_node &node) {
  int64_t axis = -1;
  if (node.op == MSLITE_OP_LogSoftmax) {
    axis = static_cast<const mslite_LogSoftmax *>(node.params)->axis;
  } else if (const auto *params = static_cast<const mslite_Softmax *>(node.params); params->axis.count > 0) {
    axis = params->axis.at[0];
  }
  return mslite_normalize_axis(axis, node.inputs[0]->rank);
}

int32_t LayerAxis(const mslite_node &node) {
  const int64_t axis = node.op == MSLITE_OP_RmsNorm
                           ? static_cast<const mslite_RmsNorm *>(node.params)->axis
                           : static_cast<const mslite_LayerNormFusion *>(node.params)->begin_norm_axis;
  return mslite_normalize_axis(axis, node.inputs[0]->rank);
}

ArgAttributes ArgOf(const mslite_node &node) {
  const int32_t rank = node.inputs[0]->rank;
  if (node.op == MSLITE_OP_ArgMaxFusion) {
    const auto *params = static_cast<const mslite_ArgMaxFusion *>(node.params);
    return {mslite_normalize_axis(params->axis, rank), params->top_k <= 1 && !params->out_max_value};
  }
  const auto *params = static_cast<const mslite_ArgMinFusion *>(node.params);
  return {mslite_normalize_axis(params->axis, rank), params->top_k <= 1 && !params->out_max_value};
}

int32_t GatherAxis(const mslite_node &node) {
  int64_t axis = 0;
  if (node.input_count > 2) {
    int32_t count = 0;
    if (!mslite_exact_entries(node.inputs[2], &axis, 1, &count) || count != 1) return -1;
  }
  return mslite_normalize_axis(axis, node.inputs[0]->rank);
}

bool ReadResize(const mslite_node &node, Resized *resized) {
  mslite_shape_context context = {};
  context.next_symbol = MSLITE_SYMBOL_LIMIT;
  const mslite_status status = node.op == MSLITE_OP_Resize
                                   ? mslite_plan_resize(&context, static_cast<const mslite_Resize *>(node.params),
                                                        node.inputs, node.input_count, &resized->plan)
                                   : mslite_plan_resize_nd(&context, static_cast<const mslite_ResizeND *>(node.params),
                                                           node.inputs, node.input_count, &resized->plan);
  if (status != MSLITE_OK) return false;
  const mslite_tensor &x = *node.inputs[0];
  for (int32_t i = 0; i < x.rank; ++i) {
    if (mslite_is_symbol(resized->plan.out[i]) || resized->plan.out[i] != node.outputs[0]->dims[i]) return false;
    const float scale = mslite_resize_scale(&resized->plan, i, x.dims[i], resized->plan.out[i]);
    const bool is_same =
        x.dims[i] == resized->plan.out[i] && scale == 1.0f && resized->plan.coordinates != RESIZE_TF_CROP_AND_RESIZE;
    if (!is_same) resized->axes.push_back(i);
  }
  return true;
}
}  // namespace mslite
