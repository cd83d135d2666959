// Convolutions, poolings and resizing, in the model's layout NHWC.
#include <cmath>

#include "convolution/geometry.h"
#include "nnrt/operators/families.h"
#include "pooling/geometry.h"

namespace mslite {
namespace {
// Returns the padding [top, bottom, left, right].
std::vector<int64_t> Pads(const mslite_axis &height, const mslite_axis &width) {
  return {height.pad_before, height.pad_after, width.pad_before, width.pad_after};
}

std::string WhyNotAxis(const mslite_axis &axis) {
  if (axis.pad_before < 0 || axis.pad_after < 0) return "negative padding";
  const int64_t room = axis.input + axis.pad_before + axis.pad_after - mslite_axis_span(&axis);
  return room / axis.stride + 1 == axis.output ? "" : "unsupported output size";
}

std::string PlanConvolution(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_convolution g;
  if (node.input_count > 3) return "a convolution with a residual add";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_convolution_fits(&node, MSLITE_FLOAT32, &g)) return "unsupported parameters of the convolution";
  if (node.inputs[1]->data == nullptr || (g.has_bias && node.inputs[2]->data == nullptr)) {
    return "the weights are not constant";
  }
  if (!IsNnrtActivation(g.activation)) return "NNRT does not support the activation";
  const bool is_depthwise = mslite_is_depthwise(&g);
  // The description of other group counts in NNRT's header is contradictory.
  if (g.group > 1 && !is_depthwise) return "a grouped convolution";
  for (const mslite_axis *axis : {&g.height, &g.width}) {
    if (std::string reason = WhyNotAxis(*axis); !reason.empty()) return reason;
  }
  NnrtFuse fuse;
  const bool is_fused = FusedNnrtActivation(g.activation, &fuse);
  std::vector<NnrtValue> inputs = plan->Inputs(g.has_bias ? 3 : 2);
  if (!g.has_bias) inputs.push_back(plan->Reals(std::vector<float>(static_cast<size_t>(g.out_channels))));
  std::vector<NnrtValue> attributes = {
      plan->Wholes(is_depthwise ? NNRT_DEPTHWISE_STRIDES : NNRT_CONV2D_STRIDES, {g.height.stride, g.width.stride}),
      plan->Wholes(is_depthwise ? NNRT_DEPTHWISE_PAD : NNRT_CONV2D_PAD, Pads(g.height, g.width)),
      plan->Wholes(is_depthwise ? NNRT_DEPTHWISE_DILATION : NNRT_CONV2D_DILATION,
                   {g.height.dilation, g.width.dilation}),
      plan->Small(is_depthwise ? NNRT_DEPTHWISE_ACTIVATION : NNRT_CONV2D_ACTIVATION, fuse)};
  if (!is_depthwise) attributes.push_back(plan->Whole(NNRT_CONV2D_GROUP, 1));
  const std::vector<int64_t> dims = NnrtDims(*node.outputs[0]);
  const NnrtValue y = plan->Layer(is_depthwise ? NNRT_DEPTHWISE_CONV2D_NATIVE : NNRT_CONV2D, attributes, inputs, dims);
  plan->Give(is_fused ? y : plan->Activated(y, g.activation, dims));
  return "";
}

std::string PlanPooling(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_pooling g;
  const char *unusual = nullptr;
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (mslite_pooling_resolve(node.op, node.params, node.inputs[0], &g, &unusual) != MSLITE_OK) return unusual;
  if (!IsNnrtActivation(g.activation)) return "NNRT does not support the activation";
  for (mslite_axis *axis : {&g.height, &g.width}) {
    axis->pad_after = PaddingBehind(*axis);
    if (std::string reason = WhyNotAxis(*axis); !reason.empty()) return reason;
    if (axis->dilation != 1) return "pooling with dilation";
    if (axis->pad_before >= axis->kernel || axis->pad_after >= axis->kernel) return "windows are outside of the input";
    // According to NNRT's header, padding repeats the nearest elements.
    if (g.average && (axis->pad_before > 0 || axis->pad_after > 0)) return "average pooling that includes the padding";
  }
  NnrtFuse fuse;
  const bool is_fused = FusedNnrtActivation(g.activation, &fuse);
  const bool is_mean = g.average;
  const std::vector<int64_t> dims = NnrtDims(*node.outputs[0]);
  const NnrtValue y = plan->Layer(
      is_mean ? NNRT_AVG_POOL : NNRT_MAX_POOL,
      {plan->Wholes(is_mean ? NNRT_AVG_POOL_KERNEL_SIZE : NNRT_MAX_POOL_KERNEL_SIZE, {g.height.kernel, g.width.kernel}),
       plan->Wholes(is_mean ? NNRT_AVG_POOL_STRIDE : NNRT_MAX_POOL_STRIDE, {g.height.stride, g.width.stride}),
       plan->Wholes(is_mean ? NNRT_AVG_POOL_PAD : NNRT_MAX_POOL_PAD, Pads(g.height, g.width)),
       plan->Small(is_mean ? NNRT_AVG_POOL_ACTIVATION : NNRT_MAX_POOL_ACTIVATION, fuse)},
      {plan->Input(0)}, dims);
  plan->Give(is_fused ? y : plan->Activated(y, g.activation, dims));
  return "";
}

std::string PlanResize(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  Resized resized;
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32) {
    return "an input is not float32";
  }
  if (!ReadResize(node, &resized)) return "the sizes are not constant";
  const mslite_resize_plan &p = resized.plan;
  if (node.inputs[0]->rank != 4 || p.method != MSLITE_RESIZE_METHOD_LINEAR || p.antialias != 0) {
    return "NNRT does not support the resize mode";
  }
  for (const int32_t axis : resized.axes) {
    if (axis != 1 && axis != 2) return "it resizes dimensions other than height and width";
    const float given = p.scale[axis] * static_cast<float>(node.inputs[0]->dims[axis]);
    if (given > 0 && std::fabs(given - static_cast<float>(p.out[axis])) > 1e-4f) return "the sizes are not divisible";
  }
  int8_t coordinates = 0;
  switch (p.coordinates) {
    case RESIZE_ASYMMETRIC:
      break;
    case RESIZE_ALIGN_CORNERS:
      coordinates = 1;
      break;
    case RESIZE_HALF_PIXEL:
      coordinates = 2;
      break;
    default:
      return "NNRT does not support the coordinate transformation";
  }
  plan->Give(plan->Layer(
      NNRT_RESIZE_BILINEAR,
      {plan->Whole(NNRT_RESIZE_BILINEAR_NEW_HEIGHT, p.out[1]), plan->Whole(NNRT_RESIZE_BILINEAR_NEW_WIDTH, p.out[2]),
       plan->Small(NNRT_RESIZE_BILINEAR_COORDINATES, coordinates)},
      {plan->Input(0)}, NnrtDims(*node.outputs[0])));
  return "";
}

constexpr NnrtOperator kWindowsOperators[] = {
    {MSLITE_OP_Conv2DFusion, PlanConvolution}, {MSLITE_OP_AvgPoolFusion, PlanPooling},
    {MSLITE_OP_MaxPoolFusion, PlanPooling},    {MSLITE_OP_AvgPoolExtended, PlanPooling},
    {MSLITE_OP_MaxPoolExtended, PlanPooling},  {MSLITE_OP_Resize, PlanResize},
    {MSLITE_OP_ResizeND, PlanResize},          {0, nullptr},
};
}  // namespace

const NnrtOperator *NnrtWindows() { return kWindowsOperators; }
}  // namespace mslite
