// Gather. An index out of range is an error, as on the CPU.
#include "engine/attributes.h"
#include "opencl/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotIndexing(const mslite_node &node) {
  const int32_t type = node.inputs[1]->type;
  if (GatherAxis(node) < 0) return "the axis is not constant";
  if (type != MSLITE_INT32 && type != MSLITE_INT64) return "the indices are not int32 or int64";
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another data type than the input";
}

void PlanIndexing(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = GatherAxis(node);
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x.rank; ++i) inner *= x.dims[i];
  const int64_t count = CountOf(*node.outputs[0]);
  OpenClLaunch &launch = plan->Launch("indexing", "gather");
  launch.Input("x", plan->Input(0)).Input("indices", plan->Input(1)).Output("y", plan->Output()).Buffer(plan->Fault());
  launch.Integer(x.dims[axis]).Integer(inner).Integer(CountOf(*node.inputs[1])).Integer(count).Items(count);
  launch.Touches(0, count).Touches(1, count);
}

constexpr OpenClOperator kIndexingOperators[] = {
    {MSLITE_OP_Gather, WhyNotIndexing, PlanIndexing},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClIndexing() { return kIndexingOperators; }
}  // namespace mslite
