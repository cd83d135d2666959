// Average and maximum pooling.
#include "openvino/operators/families.h"
#include "pooling/geometry.h"

namespace mslite {
namespace {
std::string WhyNotAxis(const mslite_axis &axis, const mslite_pooling &g) {
  const int64_t behind = PaddingBehind(axis);
  if (axis.pad_before < 0) return "negative padding";
  const int64_t room = axis.input + axis.pad_before + behind - mslite_axis_span(&axis);
  if (room / axis.stride + 1 != axis.output) return "unsupported output size";
  if (axis.pad_before >= axis.kernel || behind >= axis.kernel) return "windows may be outside of the input";
  if (g.average && axis.dilation != 1) return "average pooling with dilation";
  if (g.average && g.count_include_pad && behind > axis.pad_after) return "windows extend beyond the padding";
  return "";
}

bool GeometryOf(const mslite_node &node, mslite_pooling *g) {
  const char *reason = nullptr;
  return mslite_pooling_resolve(node.op, node.params, node.inputs[0], g, &reason) == MSLITE_OK;
}

std::string WhyNotPooling(const mslite_node &node) {
  mslite_pooling g;
  if (std::string type = CheckFloat32(node); !type.empty()) return type;
  if (!GeometryOf(node, &g)) return "unsupported parameters of the pooling";
  if (!IsFusedActivation(g.activation)) return "OpenVINO does not support the activation";
  if (std::string reason = WhyNotAxis(g.height, g); !reason.empty()) return reason;
  return WhyNotAxis(g.width, g);
}

void PlanPooling(OpenVinoPlan *plan) {
  mslite_pooling g;
  GeometryOf(plan->node(), &g);
  OpenVinoPlan::Attributes attributes = {
      {"kernel", ListOf({g.height.kernel, g.width.kernel})},
      {"strides", ListOf({g.height.stride, g.width.stride})},
      {"pads_begin", ListOf({g.height.pad_before, g.width.pad_before})},
      {"pads_end", ListOf({PaddingBehind(g.height), PaddingBehind(g.width)})},
      {"rounding_type", "floor"},
      {"auto_pad", "explicit"},
  };
  OpenVinoValue y;
  if (g.average) {
    attributes.push_back({"exclude-pad", g.count_include_pad ? "false" : "true"});
    y = plan->Layer("AvgPool", {plan->Image(0)}, attributes);
  } else {
    attributes.push_back({"dilations", ListOf({g.height.dilation, g.width.dilation})});
    attributes.push_back({"index_element_type", "i64"});
    attributes.push_back({"axis", "0"});
    y = plan->Layer("MaxPool", {plan->Image(0)}, attributes, "opset8", 2);
  }
  plan->GiveImage(plan->Activated(y, g.activation));
}

constexpr OpenVinoOperator kPoolingOperators[] = {
    {MSLITE_OP_AvgPoolFusion, WhyNotPooling, PlanPooling},
    {MSLITE_OP_MaxPoolFusion, WhyNotPooling, PlanPooling},
    {MSLITE_OP_AvgPoolExtended, WhyNotPooling, PlanPooling},
    {MSLITE_OP_MaxPoolExtended, WhyNotPooling, PlanPooling},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoPooling() { return kPoolingOperators; }
}  // namespace mslite
