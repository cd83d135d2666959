// Poolings and resizing.
#include <cmath>

#include "nnapi/operators/families.h"
#include "pooling/geometry.h"

namespace mslite {
namespace {
std::string WhyNotAxis(const mslite_axis &axis, const mslite_pooling &g) {
  const int64_t behind = PaddingBehind(axis);
  if (axis.pad_before < 0) return "negative padding";
  const int64_t room = axis.input + axis.pad_before + behind - mslite_axis_span(&axis);
  if (room / axis.stride + 1 != axis.output) return "unsupported output size";
  if (axis.pad_before >= axis.kernel || behind >= axis.kernel) return "windows may be outside of the input";
  if (axis.dilation != 1) return "pooling with dilation";
  if (g.average && g.count_include_pad && (axis.pad_before > 0 || behind > 0)) {
    return "average pooling that includes the padding";
  }
  return "";
}

std::string PlanPooling(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_pooling g;
  const char *unusual = nullptr;
  if (mslite_pooling_resolve(node.op, node.params, node.inputs[0], &g, &unusual) != MSLITE_OK) return unusual;
  const bool is_stored = IsStored(*node.inputs[0]);
  if (std::string reason = is_stored ? WhyNotMoved(node) : CheckFloat32(node); !reason.empty()) return reason;
  NnapiFuse fuse;
  const bool is_fused = FusedNnapiActivation(g.activation, &fuse);
  if (!is_fused && (is_stored || !IsNnapiActivation(g.activation))) return "NNAPI does not support the activation";
  for (const mslite_axis *axis : {&g.height, &g.width}) {
    if (std::string reason = WhyNotAxis(*axis, g); !reason.empty()) return reason;
  }
  const NnapiValue y = plan->LayerLike(
      g.average ? NNAPI_AVERAGE_POOL_2D : NNAPI_MAX_POOL_2D,
      {plan->Input(0), plan->Whole(g.width.pad_before), plan->Whole(PaddingBehind(g.width)),
       plan->Whole(g.height.pad_before), plan->Whole(PaddingBehind(g.height)), plan->Whole(g.width.stride),
       plan->Whole(g.height.stride), plan->Whole(g.width.kernel), plan->Whole(g.height.kernel), plan->Whole(fuse)},
      *node.outputs[0]);
  plan->Give(is_fused ? y : plan->Activated(y, g.activation, NnapiDims(*node.outputs[0])));
  return "";
}

std::string PlanResize(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  Resized resized;
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32) {
    return "an input is not float32";
  }
  if (!ReadResize(node, &resized)) return "the sizes are not constant";
  const mslite_resize_plan &p = resized.plan;
  const bool is_linear = p.method == MSLITE_RESIZE_METHOD_LINEAR;
  if (node.inputs[0]->rank != 4 || (!is_linear && p.method != MSLITE_RESIZE_METHOD_NEAREST) || p.antialias != 0) {
    return "NNAPI does not support the resize mode";
  }
  for (const int32_t axis : resized.axes) {
    if (axis != 1 && axis != 2) return "it resizes dimensions other than height and width";
    // NNAPI computes the scale as the quotient of the sizes.
    const float given = p.scale[axis] * static_cast<float>(node.inputs[0]->dims[axis]);
    if (given > 0 && std::fabs(given - static_cast<float>(p.out[axis])) > 1e-4f) return "the sizes are not divisible";
  }
  const bool is_plain = p.coordinates == RESIZE_ASYMMETRIC;
  const bool is_corners = p.coordinates == RESIZE_ALIGN_CORNERS;
  // NNAPI rounds coordinates down for nearest neighbors.
  if (!is_linear && (!is_plain || p.nearest != MSLITE_NEAREST_MODE_FLOOR))
    return "an unsupported rounding of nearest neighbors";
  if (!is_plain && !is_corners && p.coordinates != RESIZE_HALF_PIXEL)
    return "NNAPI does not support the coordinate transformation";
  std::vector<NnapiValue> inputs = {plan->Input(0), plan->Whole(p.out[2]), plan->Whole(p.out[1]), plan->Truth(false)};
  if (!is_plain) {
    inputs.push_back(plan->Truth(is_corners));
    inputs.push_back(plan->Truth(!is_corners));
  }
  plan->Give(
      plan->LayerLike(is_linear ? NNAPI_RESIZE_BILINEAR : NNAPI_RESIZE_NEAREST_NEIGHBOR, inputs, *node.outputs[0]));
  return "";
}

constexpr NnapiOperator kWindowsOperators[] = {
    {MSLITE_OP_AvgPoolFusion, PlanPooling, true},
    {MSLITE_OP_MaxPoolFusion, PlanPooling, true},
    {MSLITE_OP_AvgPoolExtended, PlanPooling},
    {MSLITE_OP_MaxPoolExtended, PlanPooling},
    {MSLITE_OP_Resize, PlanResize},
    {MSLITE_OP_ResizeND, PlanResize},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiWindows() { return kWindowsOperators; }
}  // namespace mslite
