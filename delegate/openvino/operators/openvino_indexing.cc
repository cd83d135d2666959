// Gather. An index out of range is an error, as on the CPU.
#include "openvino/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotIndexing(const mslite_node &node) {
  const int32_t type = node.inputs[1]->type;
  if (GatherAxis(node) < 0) return "the axis is not constant";
  if (type != MSLITE_INT32 && type != MSLITE_INT64) return "the indices are not int32 or int64";
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another data type than the input";
}

// Returns a boolean: any index is out of range. OpenVINO itself returns zeros for such indices.
OpenVinoValue IsOutside(OpenVinoPlan *plan, OpenVinoValue indices, int32_t type, int64_t size) {
  const OpenVinoValue is_above = plan->Binary("GreaterEqual", indices, plan->Number(type, static_cast<double>(size)));
  const OpenVinoValue is_below = plan->Binary("Less", indices, plan->Number(type, static_cast<double>(-size)));
  const OpenVinoValue either =
      plan->Reshaped(plan->Binary("LogicalOr", is_above, is_below), {CountIn(*plan->node().inputs[1])});
  return plan->Layer("ReduceLogicalOr", {either, plan->Integers({0})}, {{"keep_dims", "false"}});
}

void PlanIndexing(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = GatherAxis(node);
  const OpenVinoValue indices = plan->Input(1);
  plan->Fault(IsOutside(plan, indices, node.inputs[1]->type, node.inputs[0]->dims[axis]));
  plan->Give(plan->Layer("Gather", {plan->Input(0), indices, plan->Integer(axis)}, {{"batch_dims", "0"}}, "opset8"));
}

constexpr OpenVinoOperator kIndexingOperators[] = {
    {MSLITE_OP_Gather, WhyNotIndexing, PlanIndexing},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoIndexing() { return kIndexingOperators; }
}  // namespace mslite
