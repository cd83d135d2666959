// Gather. An index that is not there ends the run with an error, as on the CPU.
#include "openvino/operators/families.h"

namespace mslite {
namespace {
int32_t AxisOf(const mslite_node &node) {
  int64_t axis = 0;
  if (node.input_count > 2) {
    int32_t count = 0;
    if (!mslite_exact_entries(node.inputs[2], &axis, 1, &count) || count != 1) return -1;
  }
  return mslite_normalize_axis(axis, node.inputs[0]->rank);
}

std::string WhyNot(const mslite_node &node) {
  const int32_t type = node.inputs[1]->type;
  if (AxisOf(node) < 0) return "its axis is no constant";
  if (type != MSLITE_INT32 && type != MSLITE_INT64) return "indices of another type than int32 and int64";
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another type";
}

// Whether any index is beyond the dimension: OpenVINO would give zeros.
OpenVinoValue IsOutside(OpenVinoPlan *plan, OpenVinoValue indices, int32_t type, int64_t size) {
  const OpenVinoValue is_above = plan->Binary("GreaterEqual", indices, plan->Number(type, static_cast<double>(size)));
  const OpenVinoValue is_below = plan->Binary("Less", indices, plan->Number(type, static_cast<double>(-size)));
  const OpenVinoValue either =
      plan->Reshaped(plan->Binary("LogicalOr", is_above, is_below), {CountIn(*plan->node().inputs[1])});
  return plan->Layer("ReduceLogicalOr", {either, plan->Integers({0})}, {{"keep_dims", "false"}});
}

void Plan(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = AxisOf(node);
  const OpenVinoValue indices = plan->Input(1);
  plan->Fault(IsOutside(plan, indices, node.inputs[1]->type, node.inputs[0]->dims[axis]));
  plan->Give(plan->Layer("Gather", {plan->Input(0), indices, plan->Integer(axis)}, {{"batch_dims", "0"}}, "opset8"));
}

constexpr OpenVinoOperator kOperators[] = {
    {MSLITE_OP_Gather, WhyNot, Plan},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoIndexing() { return kOperators; }
}  // namespace mslite
