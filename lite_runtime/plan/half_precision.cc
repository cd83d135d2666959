#include "plan/half_precision.h"

#include <algorithm>
#include <cmath>

namespace mslite {
namespace {
constexpr float kLargest = 65504;               // largest float16 value
constexpr float kMinNormal = 1.0f / (1 << 14);  // smallest normal float16 value; smaller ones have fewer bits
constexpr double kMargin = 2;                   // calibration has seen only some inputs

// Returns the largest magnitude of the finite values.
float LargestOf(const float *numbers, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(numbers[i])) largest = std::max(largest, std::fabs(numbers[i]));
  }
  return largest;
}

HalfPrecision OfActivation(const mslite_node &node) {
  switch (static_cast<const mslite_Activation *>(node.params)->activation_type) {
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_SIGN:
      return {HalfPrecision::kFresh};
    default:
      return {HalfPrecision::kMixed};
  }
}

HalfPrecision OfClip(const mslite_node &node) {
  const auto *params = static_cast<const mslite_Clip *>(node.params);
  const bool is_bounded =
      node.input_count == 1 && std::fabs(params->min) <= kLargest && std::fabs(params->max) <= kLargest;
  return {is_bounded ? HalfPrecision::kFresh : HalfPrecision::kMixed};
}

bool IsWhole(const mslite_tensor &tensor) {
  return tensor.type == MSLITE_INT32 || tensor.type == MSLITE_INT64 || tensor.type == MSLITE_INT16 ||
         tensor.type == MSLITE_INT8 || tensor.type == MSLITE_UINT8;
}

// float16 represents only even integers above 2048. A cast to integers truncates, so its input must not be rounded.
HalfPrecision OfCast(const mslite_node &node) {
  return {IsWhole(*node.inputs[0]) ? HalfPrecision::kGrown : HalfPrecision::kMoved,
          node.outputs[0]->type == MSLITE_FLOAT32 ? 0 : kAllExact};
}

// Divisors may be small. If the divisor applies to whole rows, such as a standard deviation, the quotient has a
// magnitude of about 1.
HalfPrecision OfQuotient(const mslite_node &node) {
  const mslite_tensor &divisor = *node.inputs[1];
  const bool is_free =
      divisor.data == nullptr && mslite_element_count(&divisor) >= mslite_element_count(node.inputs[0]);
  return {is_free ? HalfPrecision::kGrown : HalfPrecision::kMixed, 2};
}

HalfPrecision OfReduction(const mslite_node &node) {
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  const bool is_within = params->mode == MSLITE_REDUCE_MODE_REDUCE_MEAN ||
                         params->mode == MSLITE_REDUCE_MODE_REDUCE_MAX || params->mode == MSLITE_REDUCE_MODE_REDUCE_MIN;
  return {is_within ? HalfPrecision::kMoved : HalfPrecision::kGrown};
}

// Finds the tensors of a model that must stay in float32 because float16 would overflow or is not precise enough.
class Float32Tensors {
 public:
  Float32Tensors(const std::vector<HalfTensor> &tensors, const std::vector<HalfNode> &nodes)
      : tensors_(tensors), sizes_(tensors.size()), exact_(tensors.size()) {
    for (size_t i = 0; i < tensors.size(); ++i) ReadConstant(i);
    for (const HalfNode &node : nodes) Follow(node);
    for (size_t i = nodes.size(); i-- > 0;) AskFor(nodes[i]);
  }
  bool has(size_t tensor) const { return exact_[tensor] || sizes_[tensor] != kFits; }

 private:
  // kBeyond: intentionally out of range, such as the constants of masks.
  enum Size : uint8_t { kFits, kGrown, kBeyond };

  static bool IsBit(uint32_t bits, size_t index) { return index < 32 && (bits >> index & 1) != 0; }
  int64_t CountOf(int32_t tensor) const { return mslite_element_count(tensors_[static_cast<size_t>(tensor)].value); }

  void ReadConstant(size_t index) {
    const mslite_tensor &value = *tensors_[index].value;
    if (value.type != MSLITE_FLOAT32 || value.data == nullptr) return;
    const auto *numbers = static_cast<const float *>(value.data);
    const auto count = static_cast<size_t>(mslite_element_count(&value));
    exact_[index] = !FitsHalf(numbers, count);
    if (LargestOf(numbers, count) > kLargest) sizes_[index] = kBeyond;
  }

  // Sets the sizes of a node's outputs from its inputs. Nodes are visited in execution order.
  void Follow(const HalfNode &node) {
    const HalfPrecision::Results results = node.precision.results;
    for (const int32_t output : node.outputs) {
      const HalfTensor &tensor = tensors_[static_cast<size_t>(output)];
      if (tensor.value->type != MSLITE_FLOAT32) continue;
      Size size = results == HalfPrecision::kGrown ? kGrown : kFits;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const Size own = sizes_[static_cast<size_t>(node.inputs[i])];
        const bool counts =
            results == HalfPrecision::kMoved || own == kBeyond || CountOf(node.inputs[i]) >= CountOf(output);
        if (results != HalfPrecision::kFresh && counts && IsBit(node.precision.counted, std::min<size_t>(i, 31))) {
          size = std::max(size, own);
        }
      }
      if (tensor.seen >= 0) size = tensor.seen * kMargin > kLargest ? kBeyond : kFits;
      sizes_[static_cast<size_t>(output)] = size;
    }
  }

  // Marks the inputs that a node must read unrounded, also if they come through nodes that only move values.
  void AskFor(const HalfNode &node) {
    const bool moves_exact = node.precision.results == HalfPrecision::kMoved &&
                             std::any_of(node.outputs.begin(), node.outputs.end(),
                                         [&](int32_t output) { return exact_[static_cast<size_t>(output)]; });
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (moves_exact || IsBit(node.precision.exact, i)) exact_[static_cast<size_t>(node.inputs[i])] = true;
    }
  }

  const std::vector<HalfTensor> &tensors_;
  std::vector<Size> sizes_;
  std::vector<bool> exact_;
};
}  // namespace

HalfPrecision HalfPrecisionOf(const mslite_node &node) {
  switch (node.op) {
    case MSLITE_OP_Conv2DFusion:
    case MSLITE_OP_Conv2dTransposeFusion:
    case MSLITE_OP_MatMulFusion:
    case MSLITE_OP_FullConnection:
    case MSLITE_OP_Asinh:
    case MSLITE_OP_Atan:
    case MSLITE_OP_Atan2:
    case MSLITE_OP_Erf:
    case MSLITE_OP_Sign:
    case MSLITE_OP_HardSigmoid:
    case MSLITE_OP_Softmax:
    case MSLITE_OP_RmsNorm:
    case MSLITE_OP_InstanceNorm:
    case MSLITE_OP_ChannelsLastInstanceNorm:
    case MSLITE_OP_GroupNormFusion:
    case MSLITE_OP_L2NormalizeFusion:
    case MSLITE_OP_LpNormalization:
    case MSLITE_OP_Conv2DBackpropInputFusion:
    case MSLITE_OP_Conv2DBackpropFilterFusion:
    case MSLITE_OP_DeConv2DGradFilter:
      return {HalfPrecision::kFresh};
    case MSLITE_OP_LayerNormFusion: /* the statistics are for the gradient */
      return {HalfPrecision::kFresh, 0, UINT32_MAX, ~1u};
    case MSLITE_OP_LayerNormGrad:
    case MSLITE_OP_BatchNormGrad:
      return {HalfPrecision::kFresh, ~3u, UINT32_MAX, ~1u};
    case MSLITE_OP_BatchNormTraining:
      return {HalfPrecision::kFresh, ~1u, UINT32_MAX, ~1u};
    case MSLITE_OP_Conv2DAddFusion: /* the residual may be large, and the sum with it */
      return {HalfPrecision::kMixed, 0, 1u << 3};
    case MSLITE_OP_Acos:
    case MSLITE_OP_Acosh:
    case MSLITE_OP_Asin:
    case MSLITE_OP_Atanh:
    case MSLITE_OP_Cos:
    case MSLITE_OP_Log:
    case MSLITE_OP_Log1p:
    case MSLITE_OP_Sin:
    case MSLITE_OP_Sqrt:
    case MSLITE_OP_Equal:
    case MSLITE_OP_NotEqual:
    case MSLITE_OP_Less:
    case MSLITE_OP_LessEqual:
    case MSLITE_OP_Greater:
    case MSLITE_OP_GreaterEqual:
    case MSLITE_OP_ArgMaxFusion:
    case MSLITE_OP_ArgMinFusion:
      return {HalfPrecision::kFresh, kAllExact};
    case MSLITE_OP_AddFusion:
    case MSLITE_OP_BiasAdd:
    case MSLITE_OP_SubFusion:
    case MSLITE_OP_Maximum:
    case MSLITE_OP_Minimum:
    case MSLITE_OP_AddN:
    case MSLITE_OP_PReLUFusion:
    case MSLITE_OP_ScaleFusion:
    case MSLITE_OP_BatchNorm:
    case MSLITE_OP_FusedBatchNorm:
    case MSLITE_OP_Select:
    case MSLITE_OP_Where:
    case MSLITE_OP_LogSoftmax:
    case MSLITE_OP_LRN:
      return {HalfPrecision::kMixed};
    case MSLITE_OP_Ceil:
    case MSLITE_OP_Floor:
    case MSLITE_OP_Round:
    case MSLITE_OP_FloorDiv:
    case MSLITE_OP_FloorMod:
    case MSLITE_OP_Mod:
      return {HalfPrecision::kMixed, kAllExact};
    case MSLITE_OP_Square:
    case MSLITE_OP_SquaredDifference:
      return {HalfPrecision::kGrown};
    case MSLITE_OP_TopKFusion:
      return {HalfPrecision::kMoved, kAllExact};
    case MSLITE_OP_MulFusion:
    case MSLITE_OP_Eltwise:
      return {node.inputs[0] == node.inputs[1] ? HalfPrecision::kGrown : HalfPrecision::kMixed};
    case MSLITE_OP_DivFusion:
    case MSLITE_OP_RealDiv:
      return OfQuotient(node);
    case MSLITE_OP_Activation:
      return OfActivation(node);
    case MSLITE_OP_Clip:
      return OfClip(node);
    case MSLITE_OP_Cast:
      return OfCast(node);
    case MSLITE_OP_ReduceFusion:
      return OfReduction(node);
    case MSLITE_OP_Abs:
    case MSLITE_OP_Neg:
    case MSLITE_OP_Mish:
    case MSLITE_OP_LeakyRelu:
    case MSLITE_OP_Elu:
    case MSLITE_OP_Selu:
    case MSLITE_OP_Celu:
    case MSLITE_OP_Shrink:
    case MSLITE_OP_LogicalNot:
    case MSLITE_OP_LogicalAnd:
    case MSLITE_OP_LogicalOr:
    case MSLITE_OP_LogicalXor:
    case MSLITE_OP_Gather:
    case MSLITE_OP_GatherD:
    case MSLITE_OP_GatherNd:
    case MSLITE_OP_Reshape:
    case MSLITE_OP_Flatten:
    case MSLITE_OP_Squeeze:
    case MSLITE_OP_Unsqueeze:
    case MSLITE_OP_ExpandDims:
    case MSLITE_OP_Dropout:
    case MSLITE_OP_Transpose:
    case MSLITE_OP_FormatTranspose:
    case MSLITE_OP_SliceFusion:
    case MSLITE_OP_StridedSlice:
    case MSLITE_OP_Crop:
    case MSLITE_OP_TileFusion:
    case MSLITE_OP_BroadcastTo:
    case MSLITE_OP_DepthToSpace:
    case MSLITE_OP_SpaceToDepth:
    case MSLITE_OP_BatchToSpace:
    case MSLITE_OP_BatchToSpaceND:
    case MSLITE_OP_SpaceToBatch:
    case MSLITE_OP_SpaceToBatchND:
    case MSLITE_OP_ReverseV2:
    case MSLITE_OP_ReverseSequence:
    case MSLITE_OP_Splice:
    case MSLITE_OP_PadFusion:
    case MSLITE_OP_Concat:
    case MSLITE_OP_Stack:
    case MSLITE_OP_Split:
    case MSLITE_OP_Unstack:
    case MSLITE_OP_AvgPoolFusion:
    case MSLITE_OP_MaxPoolFusion:
    case MSLITE_OP_AvgPoolExtended:
    case MSLITE_OP_MaxPoolExtended:
    case MSLITE_OP_Resize:
    case MSLITE_OP_ResizeND:
    case MSLITE_OP_ActivationGrad:
    case MSLITE_OP_MaxPoolGrad:
    case MSLITE_OP_AvgPoolGrad:
    case MSLITE_OP_StridedSliceGrad:
    case MSLITE_OP_ResizeGrad:
      return {HalfPrecision::kMoved};
    default:  // powers, exponentials, reciprocals, and unknown operators
      return {HalfPrecision::kGrown, kAllExact};
  }
}

bool FitsHalf(const float *numbers, size_t count) {
  const float largest = LargestOf(numbers, count);
  return largest == 0 || (largest >= kMinNormal && largest <= kLargest);
}

std::vector<bool> FindFloat32Tensors(const std::vector<HalfTensor> &tensors, const std::vector<HalfNode> &nodes) {
  const Float32Tensors float32(tensors, nodes);
  std::vector<bool> found(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) found[i] = float32.has(i);
  return found;
}
}  // namespace mslite
