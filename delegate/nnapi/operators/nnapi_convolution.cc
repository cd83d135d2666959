// Conv2DFusion and Conv2dTransposeFusion.
#include <cmath>
#include <cstring>

#include "convolution/geometry.h"
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotAxis(const mslite_axis &axis, bool is_transposed) {
  if (axis.pad_before < 0 || axis.pad_after < 0) return "negative padding";
  if (is_transposed) {
    if (axis.dilation != 1) return "a transposed convolution with dilation";
    const int64_t output = (axis.input - 1) * axis.stride + axis.kernel - axis.pad_before - axis.pad_after;
    return output == axis.output ? "" : "unsupported output size";
  }
  const int64_t room = axis.input + axis.pad_before + axis.pad_after - mslite_axis_span(&axis);
  return room / axis.stride + 1 == axis.output ? "" : "unsupported output size";
}

std::string WhyNotConvolution(const mslite_node &node, const mslite_convolution &g) {
  const bool is_transposed = node.op == MSLITE_OP_Conv2dTransposeFusion;
  const bool is_stored = IsStored(*node.inputs[0]);
  if (node.inputs[1]->data == nullptr || (g.has_bias && node.inputs[2]->data == nullptr)) {
    return "the weights are not constant";
  }
  if (is_stored) {
    const bool is_whole = node.inputs[1]->type == node.inputs[0]->type || node.inputs[1]->quant_count > 1;
    if (!IsStored(*node.inputs[1]) || !IsStored(*node.outputs[0]) || !is_whole)
      return "the values have different data types";
    if (g.has_bias && node.inputs[2]->type != MSLITE_INT32) return "the bias is not int32";
    if (is_transposed) return "a quantized transposed convolution";
  } else if (std::string reason = CheckFloat32(node); !reason.empty()) {
    return reason;
  }
  NnapiFuse fuse;
  const bool is_fused = FusedNnapiActivation(g.activation, &fuse);
  if (!is_fused && (is_stored || !IsNnapiActivation(g.activation))) return "NNAPI does not support the activation";
  if (is_transposed && g.group > 1) return "a grouped transposed convolution";
  const bool is_dilated = g.height.dilation > 1 || g.width.dilation > 1;
  if (g.group > 1 && !mslite_is_depthwise(&g) && is_dilated) return "a grouped convolution with dilation";
  if (std::string reason = WhyNotAxis(g.height, is_transposed); !reason.empty()) return reason;
  return WhyNotAxis(g.width, is_transposed);
}

// Transposes [in, taps, out] to [out, taps, in].
std::vector<uint8_t> OutputsFirst(const mslite_tensor &weight, int64_t in, int64_t taps, int64_t out) {
  std::vector<uint8_t> moved(static_cast<size_t>(in * taps * out) * sizeof(float));
  for (int64_t i = 0; i < in; ++i) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t o = 0; o < out; ++o) {
        std::memcpy(moved.data() + ((o * taps + tap) * in + i) * 4,
                    static_cast<const uint8_t *>(weight.data) + ((i * taps + tap) * out + o) * 4, sizeof(float));
      }
    }
  }
  return moved;
}

NnapiValue Filter(NnapiPlan *plan, const mslite_convolution &g) {
  const mslite_node &node = plan->node();
  const mslite_tensor &weight = *node.inputs[1];
  const NnapiValue as_stored = plan->Input(1);
  const bool is_depthwise = mslite_is_depthwise(&g);
  const bool is_transposed = node.op == MSLITE_OP_Conv2dTransposeFusion;
  if (!is_depthwise && !is_transposed) return as_stored;
  NnapiOperand operand = plan->operand(as_stored);
  const int64_t taps = g.height.kernel * g.width.kernel;
  const std::vector<int64_t> dims =
      is_depthwise ? std::vector<int64_t>{1, g.height.kernel, g.width.kernel, g.out_channels}
                   : std::vector<int64_t>{g.out_channels, g.height.kernel, g.width.kernel, g.in_channels};
  operand.dims.assign(dims.begin(), dims.end());
  operand.channel_dimension = is_depthwise ? 3 : 0;
  return plan->Constant(std::move(operand), is_depthwise ? TransposedWeights(weight, g.out_channels, taps)
                                                         : OutputsFirst(weight, g.in_channels, taps, g.out_channels));
}

// Returns the bias: float32, or int32 with the scale (input scale * weight scale).
NnapiValue Bias(NnapiPlan *plan, const mslite_convolution &g, NnapiValue filter) {
  const mslite_node &node = plan->node();
  const bool is_stored = IsStored(*node.inputs[0]);
  NnapiOperand operand;
  operand.type = is_stored ? NNAPI_TENSOR_INT32 : NNAPI_TENSOR_FLOAT32;
  operand.dims = {static_cast<uint32_t>(g.out_channels)};
  const NnapiOperand &weight = plan->operand(filter);
  if (is_stored && weight.scales.empty()) operand.scale = plan->operand(plan->Input(0)).scale * weight.scale;
  if (!g.has_bias) {
    return plan->Constant(std::move(operand), std::vector<uint8_t>(static_cast<size_t>(g.out_channels) * 4));
  }
  operand.contents = node.inputs[2]->data;
  operand.bytes = static_cast<size_t>(g.out_channels) * 4;
  return plan->Constant(std::move(operand));
}

std::string PlanConvolution(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_convolution g;
  if (node.input_count > 3) return "a convolution with a residual add";
  if (mslite_convolution_of(&node, &g) != MSLITE_OK) return "unsupported parameters of the convolution";
  if (std::string reason = WhyNotConvolution(node, g); !reason.empty()) return reason;
  const bool is_transposed = node.op == MSLITE_OP_Conv2dTransposeFusion;
  const bool is_depthwise = mslite_is_depthwise(&g);
  NnapiFuse fuse;
  const bool is_fused = FusedNnapiActivation(g.activation, &fuse);
  const NnapiValue x = plan->Input(0);
  const NnapiValue filter = Filter(plan, g);
  std::vector<NnapiValue> inputs = {x,
                                    filter,
                                    Bias(plan, g, filter),
                                    plan->Whole(g.width.pad_before),
                                    plan->Whole(g.width.pad_after),
                                    plan->Whole(g.height.pad_before),
                                    plan->Whole(g.height.pad_after),
                                    plan->Whole(g.width.stride),
                                    plan->Whole(g.height.stride)};
  if (is_depthwise) inputs.push_back(plan->Whole(1));  // outputs per input channel
  if (!is_depthwise && g.group > 1) inputs.push_back(plan->Whole(g.group));
  inputs.push_back(plan->Whole(fuse));
  const bool is_dilated = g.height.dilation > 1 || g.width.dilation > 1;
  if (is_transposed || is_dilated || (g.group > 1 && !is_depthwise)) inputs.push_back(plan->Truth(false));  // NHWC
  if (is_dilated) {
    inputs.push_back(plan->Whole(g.width.dilation));
    inputs.push_back(plan->Whole(g.height.dilation));
  }
  const NnapiCode code = is_transposed  ? NNAPI_TRANSPOSE_CONV_2D
                         : is_depthwise ? NNAPI_DEPTHWISE_CONV_2D
                         : g.group > 1  ? NNAPI_GROUPED_CONV_2D
                                        : NNAPI_CONV_2D;
  const NnapiValue y = plan->LayerLike(code, inputs, *node.outputs[0]);
  plan->Give(is_fused ? y : plan->Activated(y, g.activation, NnapiDims(*node.outputs[0])));
  return "";
}

constexpr NnapiOperator kConvolutionOperators[] = {
    {MSLITE_OP_Conv2DFusion, PlanConvolution, true},
    {MSLITE_OP_Conv2dTransposeFusion, PlanConvolution},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiConvolution() { return kConvolutionOperators; }
}  // namespace mslite
