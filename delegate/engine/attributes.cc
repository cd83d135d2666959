#include "engine/attributes.h"

#include <cmath>

#include "known_values.h"
#include "resize/taps.h"

namespace mslite {
std::string CheckFloat32(const mslite_node &node) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != MSLITE_FLOAT32) return "an input is not float32";
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (node.outputs[i]->type != MSLITE_FLOAT32) return "an output is not float32";
  }
  return "";
}

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
    if (!mslite_read_known_entries(node.inputs[2], &axis, 1, &count) || count != 1) return -1;
  }
  return mslite_normalize_axis(axis, node.inputs[0]->rank);
}

std::string ConstantIndices(const mslite_tensor &indices, int64_t size, std::vector<int64_t> *places) {
  if (indices.data == nullptr || (indices.type != MSLITE_INT32 && indices.type != MSLITE_INT64)) {
    return "the indices are not constant, and the backend does not check them";
  }
  for (int64_t i = 0; i < mslite_element_count(&indices); ++i) {
    const int64_t index = indices.type == MSLITE_INT32 ? static_cast<const int32_t *>(indices.data)[i]
                                                       : static_cast<const int64_t *>(indices.data)[i];
    if (index < -size || index >= size) return "an index is out of range";
    places->push_back(index < 0 ? index + size : index);
  }
  return "";
}

bool TransposeOrder(const mslite_node &node, std::vector<int64_t> *order) {
  const int32_t rank = node.inputs[0]->rank;
  int32_t count = 0;
  order->assign(MSLITE_MAX_RANK, 0);
  if (node.input_count > 1) {
    if (!mslite_read_known_entries(node.inputs[1], order->data(), MSLITE_MAX_RANK, &count) || count != rank)
      return false;
  }
  order->resize(static_cast<size_t>(rank));
  for (int32_t i = 0; i < rank; ++i) {
    int64_t &from = (*order)[static_cast<size_t>(i)];
    from = count == 0 ? rank - 1 - i : mslite_normalize_axis(from, rank);
  }
  return true;
}

bool PadsWithConstant(const mslite_node &node) {
  return static_cast<const mslite_PadFusion *>(node.params)->padding_mode == MSLITE_PADDING_MODE_CONSTANT;
}

bool ReadPads(const mslite_node &node, std::vector<int64_t> *begin, std::vector<int64_t> *end) {
  const mslite_tensor &x = *node.inputs[0];
  const auto *params = static_cast<const mslite_PadFusion *>(node.params);
  std::vector<int64_t> listed(2 * MSLITE_MAX_RANK);
  int32_t count = 0;
  if (node.input_count > 1) {
    if (!mslite_read_known_entries(node.inputs[1], listed.data(), 2 * MSLITE_MAX_RANK, &count)) return false;
  } else {
    for (int32_t i = 0; i < static_cast<int32_t>(params->paddings.count) && i < MSLITE_MAX_RANK; ++i, count += 2) {
      if (params->paddings.at[i].count != 2) return false;
      listed[static_cast<size_t>(count)] = params->paddings.at[i].at[0];
      listed[static_cast<size_t>(count) + 1] = params->paddings.at[i].at[1];
    }
  }
  if (count != 2 * x.rank) return false;
  for (int32_t i = 0; i < x.rank; ++i) {
    begin->push_back(listed[static_cast<size_t>(2 * i)]);
    end->push_back(listed[static_cast<size_t>(2 * i) + 1]);
    if (begin->back() < 0 || end->back() < 0) return false;
    if (node.outputs[0]->dims[i] != x.dims[i] + begin->back() + end->back()) return false;
  }
  return true;
}

bool ReduceAxes(const mslite_node &node, std::vector<int64_t> *axes) {
  const mslite_tensor &x = *node.inputs[0];
  std::vector<int64_t> listed(MSLITE_MAX_RANK);
  int32_t count = 0;
  if (node.input_count > 1 && !mslite_read_known_entries(node.inputs[1], listed.data(), MSLITE_MAX_RANK, &count)) {
    return false;
  }
  const bool is_to_end = static_cast<const mslite_ReduceFusion *>(node.params)->reduce_to_end;
  std::vector<bool> is_reduced(static_cast<size_t>(x.rank), count == 0);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t axis = mslite_normalize_axis(listed[static_cast<size_t>(i)], x.rank);
    if (axis < 0) return false;
    for (int32_t k = axis; k < (is_to_end ? x.rank : axis + 1); ++k) is_reduced[static_cast<size_t>(k)] = true;
  }
  for (int32_t i = 0; i < x.rank; ++i) {
    if (is_reduced[static_cast<size_t>(i)]) axes->push_back(i);
  }
  return !axes->empty();
}

std::vector<int64_t> NormAxes(const mslite_node &node) {
  const int32_t rank = node.inputs[0]->rank;
  if (node.op == MSLITE_OP_LpNormalization) {
    const int32_t axis = mslite_normalize_axis(static_cast<const mslite_LpNormalization *>(node.params)->axis, rank);
    return axis < 0 ? std::vector<int64_t>() : std::vector<int64_t>{axis};
  }
  const mslite_longs listed = static_cast<const mslite_L2NormalizeFusion *>(node.params)->axis;
  if (listed.count == 0) return AxisRange(0, rank);
  std::vector<int64_t> axes;
  for (int32_t i = 0; i < static_cast<int32_t>(listed.count); ++i) {
    axes.push_back(mslite_normalize_axis(listed.at[i], rank));
    if (axes.back() < 0) return {};
  }
  return axes;
}

std::vector<int64_t> AxisRange(int32_t begin, int32_t end) {
  std::vector<int64_t> axes;
  for (int32_t i = begin; i < end; ++i) axes.push_back(i);
  return axes;
}

int32_t ParameterAxis(const mslite_tensor &x, int32_t axis, int64_t count) {
  int64_t elements = 1;
  int32_t first = x.rank;
  while (first > axis && elements < count) elements *= x.dims[--first];
  return elements == count ? first : -1;
}

bool FoldBatchNorm(const mslite_node &node, std::vector<float> *factor, std::vector<float> *offset) {
  const bool has_scale = node.op == MSLITE_OP_FusedBatchNorm;
  if (node.input_count != (has_scale ? 5 : 3)) return false;
  const int64_t count = mslite_element_count(node.inputs[1]);
  for (int32_t i = 1; i < node.input_count; ++i) {
    const mslite_tensor &operand = *node.inputs[i];
    if (operand.data == nullptr || operand.type != MSLITE_FLOAT32 || mslite_element_count(&operand) != count) {
      return false;
    }
  }
  const double epsilon = has_scale ? static_cast<const mslite_FusedBatchNorm *>(node.params)->epsilon
                                   : static_cast<const mslite_BatchNorm *>(node.params)->epsilon;
  const auto *mean = static_cast<const float *>(node.inputs[has_scale ? 3 : 1]->data);
  const auto *variance = static_cast<const float *>(node.inputs[has_scale ? 4 : 2]->data);
  const float *scale = has_scale ? static_cast<const float *>(node.inputs[1]->data) : nullptr;
  const float *shift = has_scale ? static_cast<const float *>(node.inputs[2]->data) : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const double exact =
        static_cast<double>(has_scale ? scale[i] : 1.0f) / std::sqrt(static_cast<double>(variance[i]) + epsilon);
    factor->push_back(static_cast<float>(exact));
    offset->push_back(static_cast<float>((has_scale ? shift[i] : 0.0f) - exact * mean[i]));
  }
  return true;
}

int64_t PaddingBehind(const mslite_axis &axis) {
  const int64_t end = (axis.output - 1) * axis.stride + mslite_axis_span(&axis) - axis.pad_before;
  return end > axis.input ? end - axis.input : 0;
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
