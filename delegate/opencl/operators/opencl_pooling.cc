// Average and maximum pooling.
#include "opencl/operators/families.h"
#include "pooling/geometry.h"

namespace mslite {
namespace {
std::string WhyNotPooling(const mslite_node &node) {
  mslite_pooling geometry;
  const char *reason = nullptr;
  if (std::string type = WhyNotReal(node); !type.empty()) return type;
  return mslite_pooling_resolve(node.op, node.params, node.inputs[0], &geometry, &reason) == MSLITE_OK
             ? ""
             : "unsupported parameters of the pooling";
}

void PlanPooling(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_pooling g;
  const char *reason = nullptr;
  mslite_pooling_resolve(node.op, node.params, node.inputs[0], &g, &reason);
  OpenClLaunch &launch = plan->Launch("pooling", "pooling");
  launch.Define("ACTIVATION", g.activation);
  if (g.average) launch.Define("AVERAGE", 1);
  if (g.count_include_pad) launch.Define("COUNT_PADDING", 1);
  const int64_t lanes = g.channels % 4 == 0 ? 4 : 1;
  const OpenClAccessPattern access = lanes == 4 ? OpenClAccessPattern::Fours() : OpenClAccessPattern();
  launch.Define("LANES", lanes)
      .TakesEpilogue(lanes == 4)
      .Input("x", plan->Input(0), access)
      .Output("y", plan->Output(), access);
  launch.Integer(g.height.input).Integer(g.width.input).Integer(g.height.output).Integer(g.width.output);
  launch.Integer(g.height.kernel).Integer(g.width.kernel).Integer(g.height.stride).Integer(g.width.stride);
  launch.Integer(g.height.dilation).Integer(g.width.dilation).Integer(g.height.pad_before).Integer(g.width.pad_before);
  launch.Integer(g.height.pad_after).Integer(g.width.pad_after).Integer(g.channels);
  launch.Items(g.channels / lanes, g.width.output, g.batch * g.height.output);
  launch.Touches(0, g.batch * g.channels * TapsInside(g.height) * TapsInside(g.width));
}

constexpr OpenClOperator kPoolingOperators[] = {
    {MSLITE_OP_AvgPoolFusion, WhyNotPooling, PlanPooling},
    {MSLITE_OP_MaxPoolFusion, WhyNotPooling, PlanPooling},
    {MSLITE_OP_AvgPoolExtended, WhyNotPooling, PlanPooling},
    {MSLITE_OP_MaxPoolExtended, WhyNotPooling, PlanPooling},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClPooling() { return kPoolingOperators; }
}  // namespace mslite
