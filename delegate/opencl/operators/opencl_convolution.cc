// Conv2DFusion and Conv2dTransposeFusion.
#include "convolution/geometry.h"
#include "opencl/operators/families.h"
#include "opencl/operators/opencl_winograd.h"

namespace mslite {
namespace {
std::string WhyNotConvolution(const mslite_node &node) {
  mslite_convolution geometry;
  if (node.input_count > 3) return "a convolution with a residual add";
  if (std::string reason = WhyNotReal(node); !reason.empty()) return reason;
  if (!mslite_convolution_fits(&node, MSLITE_FLOAT32, &geometry)) return "unsupported parameters of the convolution";
  if (node.inputs[1]->data == nullptr) return "the weights are not constant";
  return "";
}

// Packs the weights to [group][kernel height][kernel width][input channels of a group][output channels of a group,
// rounded up to a multiple of four].
std::vector<float> Pack(const mslite_convolution &g, const std::vector<float> &weight, bool is_transposed) {
  const int64_t padded = RoundUp(g.group_out, 4);
  const int64_t taps = g.height.kernel * g.width.kernel;
  std::vector<float> packed(static_cast<size_t>(g.group * taps * g.group_in * padded));
  for (int64_t group = 0; group < g.group; ++group) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t in = 0; in < g.group_in; ++in) {
        for (int64_t out = 0; out < g.group_out; ++out) {
          const int64_t from = is_transposed ? ((group * g.group_in + in) * taps + tap) * g.group_out + out
                                             : ((group * g.group_out + out) * taps + tap) * g.group_in + in;
          const int64_t to = ((group * taps + tap) * g.group_in + in) * padded + out;
          packed[static_cast<size_t>(to)] = weight[static_cast<size_t>(from)];
        }
      }
    }
  }
  return packed;
}

// Packs the weights to [kernel height][kernel width][channels].
std::vector<float> PackDepthwise(const mslite_convolution &g, const std::vector<float> &weight) {
  const int64_t taps = g.height.kernel * g.width.kernel;
  std::vector<float> packed(weight.size());
  for (int64_t channel = 0; channel < g.group; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      packed[static_cast<size_t>(tap * g.group + channel)] = weight[static_cast<size_t>(channel * taps + tap)];
    }
  }
  return packed;
}

// Adds the arguments that all convolution kernels have first. `row`: row length of the weights. `reads_fours`,
// `writes_fours`: input and output are accessed in vectors of four.
void AddOperands(const mslite_convolution &g, const OpenClPlan &plan, OpenClOperand weight, int64_t row,
                 bool reads_fours, bool writes_fours, OpenClLaunch *launch) {
  launch->Input("x", plan.Input(0),
                reads_fours ? OpenClAccessPattern::Rows(g.width.input * g.in_channels) : OpenClAccessPattern());
  launch->Input("weight", weight, OpenClAccessPattern::Rows(row));
  if (g.has_bias) {
    launch->Input("bias", plan.Input(2));
  } else {
    launch->Input("bias", weight, OpenClAccessPattern::Rows(row));  // without bias: an argument that is not read
  }
  launch->Output("y", plan.Output(), writes_fours ? OpenClAccessPattern::Fours() : OpenClAccessPattern());
  launch->Integer(g.height.input).Integer(g.width.input).Integer(g.height.output).Integer(g.width.output);
  launch->Integer(g.height.kernel).Integer(g.width.kernel).Integer(g.height.stride).Integer(g.width.stride);
  launch->Integer(g.height.dilation).Integer(g.width.dilation).Integer(g.height.pad_before).Integer(g.width.pad_before);
}

void PlanDepthwise(const mslite_convolution &g, OpenClPlan *plan) {
  const int64_t lanes = g.group % 4 == 0 ? 4 : 1;
  const OpenClOperand weight = plan->Weights(PackDepthwise(g, RealsOf(*plan->node().inputs[1])), g.group);
  OpenClLaunch &launch = plan->Launch("conv2d", "depthwise");
  launch.Define("LANES", lanes).Define("ACTIVATION", g.activation).TakesEpilogue(lanes == 4);
  if (g.has_bias) launch.Define("BIAS", 1);
  AddOperands(g, *plan, weight, g.group, lanes == 4, lanes == 4, &launch);
  launch.Integer(g.group).Items(g.group / lanes, g.width.output, g.batch * g.height.output);
  const int64_t taps = g.batch * TapsInside(g.height) * TapsInside(g.width) * g.group;
  launch.Touches(0, taps).Touches(1, taps).Touches(2, g.has_bias ? CountOf(*plan->node().outputs[0]) : 0);
}

void PlanConvolution(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const bool is_transposed = node.op == MSLITE_OP_Conv2dTransposeFusion;
  mslite_convolution g;
  mslite_convolution_of(&node, &g);
  if (mslite_is_depthwise(&g) && !is_transposed) {
    PlanDepthwise(g, plan);
    return;
  }
  // Winograd is not used for float16, because transformed values are larger and lose precision.
  if (const int64_t tile = is_transposed || plan->is_half() ? 0 : WinogradTile(g); tile != 0) {
    PlanWinograd(g, tile, plan);
    return;
  }
  const int64_t row = RoundUp(g.group_out, 4);
  const OpenClOperand weight = plan->Weights(Pack(g, RealsOf(*node.inputs[1]), is_transposed), row);
  OpenClLaunch &launch = plan->Launch("conv2d", is_transposed ? "conv2d_transpose" : "conv2d");
  launch.Define("ACTIVATION", g.activation).TakesEpilogue(g.group_out % 4 == 0);
  if (g.has_bias) launch.Define("BIAS", 1);
  if (g.group_in % 4 == 0) launch.Define("FOURS", 1);
  AddOperands(g, *plan, weight, row, !is_transposed && g.group_in % 4 == 0, g.group_out % 4 == 0, &launch);
  const int64_t fours = (g.group_out + 3) / 4;
  launch.Integer(g.in_channels).Integer(g.group_in).Integer(g.group_out).Integer(fours).Integer(g.out_channels);
  launch.Items(g.group * fours, g.width.output, g.batch * g.height.output);
  // For each block of four output channels and each tap, the kernel reads an input element and four weights.
  const int64_t rows = g.batch * TapsInside(g.height);
  const int64_t group_reads = g.group * fours * g.group_in;
  const int64_t biases = g.has_bias ? 4 * g.group * fours * g.batch * g.height.output : 0;
  if (is_transposed) {
    const int64_t taps = CountOf(*node.inputs[0]) / g.in_channels * g.height.kernel * g.width.kernel;
    launch.Touches(0, taps * group_reads).Touches(1, 4 * taps * group_reads).Touches(2, biases * g.width.output);
    return;
  }
  launch.Tiles("PIXELS", 1, g.width.output, {4, 2, 8, 1});
  launch.Touches(0, rows * TapsInside(g.width) * group_reads);
  launch.Touches(1, 0, 4 * rows * g.width.kernel * group_reads).Touches(2, 0, biases);
}

constexpr OpenClOperator kConvolutionOperators[] = {
    {MSLITE_OP_Conv2DFusion, WhyNotConvolution, PlanConvolution},
    {MSLITE_OP_Conv2dTransposeFusion, WhyNotConvolution, PlanConvolution},
    {0, nullptr, nullptr},
};
}  // namespace

int64_t TapsInside(const mslite_axis &axis) {
  int64_t taps = 0;
  for (int64_t at = 0; at < axis.output; ++at) {
    int64_t begin = 0;
    int64_t end = 0;
    mslite_window_taps(&axis, at, &begin, &end);
    taps += end - begin;
  }
  return taps;
}

const OpenClOperator *OpenClConvolution() { return kConvolutionOperators; }
}  // namespace mslite
