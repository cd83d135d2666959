// Convolutions and poolings in the layout NCHW; matmuls, and operators that work on rows.
#include <cstring>

#include "convolution/geometry.h"
#include "coreml/operators/families.h"
#include "matmul/geometry.h"
#include "pooling/geometry.h"

namespace mslite {
namespace {
// Returns a ValidPadding message: the padding before and after height and width.
ProtoMessage Padding(const mslite_axis &height, const mslite_axis &width) {
  ProtoMessage borders;
  for (const mslite_axis *axis : {&height, &width}) {
    borders.Part(10, ProtoMessage().Whole(1, axis->pad_before).Whole(2, axis->pad_after));
  }
  return ProtoMessage().Part(1, borders);
}

std::string WhyNotAxis(const mslite_axis &axis) {
  if (axis.pad_before < 0 || axis.pad_after < 0) return "negative padding";
  const int64_t room = axis.input + axis.pad_before + axis.pad_after - mslite_axis_span(&axis);
  return room / axis.stride + 1 == axis.output ? "" : "unsupported output size";
}

// Transposes [outer][taps][inner] to [outer][inner][taps].
std::vector<float> TapsLast(const mslite_tensor &weight, int64_t outer, int64_t taps, int64_t inner) {
  const auto *numbers = static_cast<const float *>(weight.data);
  std::vector<float> moved(static_cast<size_t>(outer * taps * inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < inner; ++i) {
        moved[static_cast<size_t>((o * inner + i) * taps + tap)] = numbers[(o * taps + tap) * inner + i];
      }
    }
  }
  return moved;
}

std::string PlanConvolution(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_convolution g;
  if (node.input_count > 3) return "a convolution with a residual add";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_convolution_fits(&node, MSLITE_FLOAT32, &g)) return "unsupported parameters of the convolution";
  if (node.inputs[1]->data == nullptr || (g.has_bias && node.inputs[2]->data == nullptr)) {
    return "the weights are not constant";
  }
  if (!IsCoreMlActivation(g.activation)) return "Core ML does not support the activation";
  for (const mslite_axis *axis : {&g.height, &g.width}) {
    if (std::string reason = WhyNotAxis(*axis); !reason.empty()) return reason;
  }
  const std::vector<float> weight =
      TapsLast(*node.inputs[1], g.out_channels, g.height.kernel * g.width.kernel, g.group_in);
  ProtoMessage message;
  message.Whole(1, g.out_channels)
      .Whole(2, g.group_in)
      .Whole(10, g.group)
      .Wholes(20, {g.height.kernel, g.width.kernel})
      .Wholes(30, {g.height.stride, g.width.stride})
      .Wholes(40, {g.height.dilation, g.width.dilation})
      .Part(50, Padding(g.height, g.width))
      .Whole(70, g.has_bias ? 1 : 0)
      .Part(90, CoreMlWeights(weight.data(), weight.size()));
  if (g.has_bias) {
    message.Part(91,
                 CoreMlWeights(static_cast<const float *>(node.inputs[2]->data), static_cast<size_t>(g.out_channels)));
  }
  plan->GiveImage(plan->Activated(plan->Layer(COREML_CONVOLUTION, {plan->Image(0)}, message), g.activation));
  return "";
}

std::string PlanPooling(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_pooling g;
  const char *unusual = nullptr;
  if (mslite_pooling_resolve(node.op, node.params, node.inputs[0], &g, &unusual) != MSLITE_OK) return unusual;
  if (!IsCoreMlActivation(g.activation)) return "Core ML does not support the activation";
  for (mslite_axis *axis : {&g.height, &g.width}) {
    const int64_t behind = PaddingBehind(*axis);
    if (g.average && g.count_include_pad && behind > axis->pad_after) return "windows extend beyond the padding";
    axis->pad_after = behind;
    if (std::string reason = WhyNotAxis(*axis); !reason.empty()) return reason;
    if (axis->dilation != 1) return "pooling with dilation";
    if (axis->pad_before >= axis->kernel || axis->pad_after >= axis->kernel) return "windows are outside of the input";
  }
  ProtoMessage message;
  message.Whole(1, g.average ? 1 : 0)
      .Wholes(10, {g.height.kernel, g.width.kernel})
      .Wholes(20, {g.height.stride, g.width.stride})
      .Part(30, Padding(g.height, g.width))
      .Whole(50, g.average && !g.count_include_pad ? 1 : 0);
  plan->GiveImage(plan->Activated(plan->Layer(COREML_POOLING, {plan->Image(0)}, message), g.activation));
  return "";
}

std::string PlanProduct(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_matmul p;
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_matmul_fits(&node, MSLITE_FLOAT32, &p)) return "unsupported parameters of the matmul";
  if (!IsCoreMlActivation(p.activation)) return "Core ML does not support the activation";
  const bool is_full = node.op == MSLITE_OP_FullConnection;
  if (node.inputs[0]->rank < 2 || node.inputs[1]->rank < 2) return "an input of the matmul is a vector";
  const std::string a = is_full ? plan->Reshaped(plan->Input(0), {p.m, p.k}) : plan->Input(0);
  ProtoMessage message;
  message.Whole(1, !is_full && p.transpose_a ? 1 : 0).Whole(2, is_full || p.transpose_b ? 1 : 0);
  std::string y = plan->Layer(COREML_BATCHED_MATMUL, {a, plan->Input(1)}, message);
  if (p.has_bias) y = plan->Layer(COREML_ADD, {y, plan->Reshaped(plan->Input(2), {p.n})});
  y = plan->Activated(y, p.activation);
  plan->Give(is_full ? plan->Reshaped(y, CoreMlDims(*node.outputs[0])) : y);
  return "";
}

std::string PlanSoftmax(CoreMlPlan *plan) {
  const int32_t axis = SoftmaxAxis(plan->node());
  if (axis < 0) return "the axis is out of range";
  plan->Give(plan->Layer(COREML_SOFTMAX_ND, {plan->Input(0)}, ProtoMessage().Whole(1, axis)));
  return "";
}

std::string PlanLayerNorm(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int32_t first = LayerAxis(node);
  if (first < 0) return "the axis is out of range";
  if (node.output_count > 1 || node.input_count != 3) return "unsupported parameters";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  ProtoMessage message;
  message.Wholes(1, {x.dims + first, x.dims + x.rank})
      .Real(2, static_cast<const mslite_LayerNormFusion *>(node.params)->epsilon);
  for (int32_t i = 1; i < 3; ++i) {
    const int64_t count = CountIn(*node.inputs[i]);
    if (node.inputs[i]->data == nullptr || ParameterAxis(x, first, count) != first) {
      return "the parameters are not constant or do not match the row size";
    }
    message.Part(i + 2, CoreMlWeights(static_cast<const float *>(node.inputs[i]->data), static_cast<size_t>(count)));
  }
  plan->Give(plan->Layer(COREML_LAYER_NORM, {plan->Input(0)}, message));
  return "";
}

std::string PlanReduce(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  std::vector<int64_t> axes;
  if (!ReduceAxes(node, &axes)) return "the axes are not constant";
  if (params->reduce_to_end && params->coeff != 1) return "the output is scaled";
  CoreMlLayer type = COREML_REDUCE_MEAN;
  switch (params->mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MEAN:
      break;
    case MSLITE_REDUCE_MODE_REDUCE_SUM:
      type = COREML_REDUCE_SUM;
      break;
    case MSLITE_REDUCE_MODE_REDUCE_MAX:
      type = COREML_REDUCE_MAX;
      break;
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
      type = COREML_REDUCE_MIN;
      break;
    default:
      return "the backend does not support the reduction";
  }
  const std::string y = plan->Layer(type, {plan->Input(0)}, ProtoMessage().Wholes(1, axes).Whole(2, 1));
  plan->Give(plan->Reshaped(y, CoreMlDims(*node.outputs[0])));
  return "";
}

constexpr CoreMlOperator kWindowsOperators[] = {
    {MSLITE_OP_Conv2DFusion, PlanConvolution},
    {MSLITE_OP_AvgPoolFusion, PlanPooling},
    {MSLITE_OP_MaxPoolFusion, PlanPooling},
    {MSLITE_OP_AvgPoolExtended, PlanPooling},
    {MSLITE_OP_MaxPoolExtended, PlanPooling},
    {MSLITE_OP_MatMulFusion, PlanProduct},
    {MSLITE_OP_FullConnection, PlanProduct},
    {MSLITE_OP_Softmax, PlanSoftmax},
    {MSLITE_OP_LayerNormFusion, PlanLayerNorm},
    {MSLITE_OP_ReduceFusion, PlanReduce},
    {0, nullptr},
};
}  // namespace

const CoreMlOperator *CoreMlWindows() { return kWindowsOperators; }
}  // namespace mslite
