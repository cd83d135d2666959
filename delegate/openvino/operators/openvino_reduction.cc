// Reductions, ArgMax and ArgMin.
#include "openvino/operators/families.h"

namespace mslite {
namespace {
struct Mode {
  int32_t mode;
  const char *layer;
  const char *opset;
};

constexpr Mode kModes[] = {
    {MSLITE_REDUCE_MODE_REDUCE_MEAN, "ReduceMean", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_MAX, "ReduceMax", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_MIN, "ReduceMin", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_PROD, "ReduceProd", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_SUM, "ReduceSum", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE, "ReduceSum", "opset1"},
    {MSLITE_REDUCE_MODE_REDUCE_ASUM, "ReduceL1", "opset4"},
    {MSLITE_REDUCE_MODE_REDUCE_L2, "ReduceL2", "opset4"},
};

const Mode *ModeOf(const mslite_node &node) {
  const int32_t mode = static_cast<const mslite_ReduceFusion *>(node.params)->mode;
  for (const Mode &known : kModes) {
    if (known.mode == mode) return &known;
  }
  return nullptr;
}

std::string WhyNotReduce(const mslite_node &node) {
  std::vector<int64_t> axes;
  if (ModeOf(node) == nullptr) return "OpenVINO does not support the reduction";
  if (!ReduceAxes(node, &axes)) return "the axes are not constant";
  return node.inputs[0]->type == MSLITE_FLOAT32 && node.outputs[0]->type == MSLITE_FLOAT32 ? ""
                                                                                           : "an input is not float32";
}

void PlanReduce(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  const Mode &mode = *ModeOf(node);
  std::vector<int64_t> axes;
  ReduceAxes(node, &axes);
  // If all dimensions are kept, the reduction runs in the layout of its input, NCHW or NHWC.
  const bool is_image = plan->HasImage(0) && node.outputs[0]->rank == 4;
  if (is_image) {
    constexpr int64_t kPlaces[] = {0, 2, 3, 1};
    for (int64_t &axis : axes) axis = kPlaces[axis];
  }
  OpenVinoValue x = is_image ? plan->Image(0) : plan->Input(0);
  if (mode.mode == MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE) x = plan->Binary("Multiply", x, x);
  OpenVinoValue y = plan->Layer(mode.layer, {x, plan->Integers(axes)}, {{"keep_dims", "true"}}, mode.opset);
  if (params->reduce_to_end && params->coeff != 0) y = plan->Binary("Multiply", y, plan->Real(params->coeff));
  if (is_image) {
    plan->GiveImage(y);
  } else {
    plan->Give(plan->Reshaped(y, DimsOf(*node.outputs[0])));
  }
}

// ---- ArgMaxFusion, ArgMinFusion: the first element after a stable sort ----

std::string WhyNotArg(const mslite_node &node) {
  const ArgAttributes attributes = ArgOf(node);
  if (attributes.axis < 0 || !attributes.is_first_index || node.output_count != 1)
    return "it returns more than one index";
  return node.inputs[0]->type == MSLITE_FLOAT32 && node.outputs[0]->type == MSLITE_INT32 ? ""
                                                                                         : "an input is not float32";
}

// TopK returns the values as output 0 and the indices as output 1.
OpenVinoValue Sorted(OpenVinoPlan *plan, int64_t count, int32_t axis, bool is_largest) {
  return plan->Layer("TopK", {plan->Input(0), plan->Integer(count)},
                     {{"axis", std::to_string(axis)},
                      {"mode", is_largest ? "max" : "min"},
                      {"sort", "value"},
                      {"stable", "true"},
                      {"index_element_type", "i32"}},
                     "opset11", 2);
}

void PlanArg(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  OpenVinoValue index = Sorted(plan, 1, ArgOf(node).axis, node.op == MSLITE_OP_ArgMaxFusion);
  ++index.port;
  plan->Give(plan->Reshaped(index, DimsOf(*node.outputs[0])));
}

std::string WhyNotTopK(const mslite_node &node) {
  const auto *params = static_cast<const mslite_TopKFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  if (mslite_normalize_axis(params->axis, x.rank) < 0) return "the axis is out of range";
  if (x.type != MSLITE_FLOAT32) return "an input is not float32";
  if (node.output_count > 1 && node.outputs[1]->type != MSLITE_INT32) return "the indices are not int32";
  return "";
}

void PlanTopK(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_TopKFusion *>(node.params);
  const int32_t axis = mslite_normalize_axis(params->axis, node.inputs[0]->rank);
  OpenVinoValue output = Sorted(plan, node.outputs[0]->dims[axis], axis, params->largest >= 0);
  for (int32_t i = 0; i < node.output_count; ++i, ++output.port) plan->Give(output, i);
}

constexpr OpenVinoOperator kReductionOperators[] = {
    {MSLITE_OP_ReduceFusion, WhyNotReduce, PlanReduce},
    {MSLITE_OP_ArgMaxFusion, WhyNotArg, PlanArg},
    {MSLITE_OP_ArgMinFusion, WhyNotArg, PlanArg},
    {MSLITE_OP_TopKFusion, WhyNotTopK, PlanTopK},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoReduction() { return kReductionOperators; }
}  // namespace mslite
