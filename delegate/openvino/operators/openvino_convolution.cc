// Conv2DFusion and Conv2dTransposeFusion.
#include "convolution/geometry.h"
#include "openvino/operators/families.h"

namespace mslite {
namespace {
bool IsTransposed(const mslite_node &node) { return node.op == MSLITE_OP_Conv2dTransposeFusion; }

// Returns the size that the output of a transposed convolution has in addition to its windows (output padding).
int64_t ExtraOf(const mslite_axis &axis) {
  return axis.output - ((axis.input - 1) * axis.stride + mslite_axis_span(&axis) - axis.pad_before - axis.pad_after);
}

// Returns the reason if OpenVINO cannot express the windows as padding at both ends, else "".
std::string WhyNotAxis(const mslite_axis &axis, bool is_transposed) {
  if (axis.pad_before < 0 || axis.pad_after < 0) return "negative padding";
  if (is_transposed) return ExtraOf(axis) < 0 || ExtraOf(axis) >= axis.stride ? "unsupported output size" : "";
  const int64_t room = axis.input + axis.pad_before + axis.pad_after - mslite_axis_span(&axis);
  return room / axis.stride + 1 == axis.output ? "" : "unsupported output size";
}

std::string WhyNotConvolution(const mslite_node &node) {
  mslite_convolution geometry;
  if (node.input_count > 3) return "a convolution with a residual add";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_convolution_fits(&node, MSLITE_FLOAT32, &geometry)) return "unsupported parameters of the convolution";
  if (node.inputs[1]->data == nullptr) return "the weights are not constant";
  if (!IsFusedActivation(geometry.activation)) return "OpenVINO does not support the activation";
  if (std::string reason = WhyNotAxis(geometry.height, IsTransposed(node)); !reason.empty()) return reason;
  return WhyNotAxis(geometry.width, IsTransposed(node));
}

// Transposes [outer][taps][inner] to [outer][inner][taps].
std::vector<float> TapsLast(const std::vector<float> &weight, int64_t outer, int64_t taps, int64_t inner) {
  std::vector<float> moved(weight.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < inner; ++i) {
        moved[static_cast<size_t>((o * inner + i) * taps + tap)] =
            weight[static_cast<size_t>((o * taps + tap) * inner + i)];
      }
    }
  }
  return moved;
}

void PlanConvolution(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const bool is_transposed = IsTransposed(node);
  mslite_convolution g;
  mslite_convolution_of(&node, &g);
  const int64_t taps = g.height.kernel * g.width.kernel;
  // Channels of a group in the first dimension of the weights in the file, and in the other channel dimension.
  const int64_t outer = is_transposed ? g.group_in : g.group_out;
  const int64_t inner = is_transposed ? g.group_out : g.group_in;
  std::vector<int64_t> dims = {outer, inner, g.height.kernel, g.width.kernel};
  if (g.group > 1) dims.insert(dims.begin(), g.group);
  const OpenVinoValue weight = plan->Reals(dims, TapsLast(FloatsOf(*node.inputs[1]), g.group * outer, taps, inner));
  OpenVinoPlan::Attributes attributes = {
      {"strides", ListOf({g.height.stride, g.width.stride})},
      {"dilations", ListOf({g.height.dilation, g.width.dilation})},
      {"pads_begin", ListOf({g.height.pad_before, g.width.pad_before})},
      {"pads_end", ListOf({g.height.pad_after, g.width.pad_after})},
      {"auto_pad", "explicit"},
  };
  if (is_transposed) attributes.push_back({"output_padding", ListOf({ExtraOf(g.height), ExtraOf(g.width)})});
  const char *type = g.group > 1 ? (is_transposed ? "GroupConvolutionBackpropData" : "GroupConvolution")
                                 : (is_transposed ? "ConvolutionBackpropData" : "Convolution");
  OpenVinoValue y = plan->Layer(type, {plan->Image(0), weight}, attributes);
  if (g.has_bias) y = plan->Binary("Add", y, plan->Reshaped(plan->Input(2), {1, g.out_channels, 1, 1}));
  plan->GiveImage(plan->Activated(y, g.activation));
}

constexpr OpenVinoOperator kConvolutionOperators[] = {
    {MSLITE_OP_Conv2DFusion, WhyNotConvolution, PlanConvolution},
    {MSLITE_OP_Conv2dTransposeFusion, WhyNotConvolution, PlanConvolution},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoConvolution() { return kConvolutionOperators; }
}  // namespace mslite
