// Softmax and normalizations.
#include "openvino/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotSoftmax(const mslite_node &node) {
  return SoftmaxAxis(node) < 0 ? "the axis is out of range" : CheckFloat32(node);
}

void PlanSoftmax(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const bool is_logarithm = node.op == MSLITE_OP_LogSoftmax;
  plan->Give(plan->Layer(is_logarithm ? "LogSoftmax" : "Softmax", {plan->Input(0)},
                         {{"axis", std::to_string(SoftmaxAxis(node))}}, is_logarithm ? "opset5" : "opset8"));
}

// Returns (x - mean) / sqrt(variance + epsilon) over the axes.
OpenVinoValue Centered(OpenVinoPlan *plan, OpenVinoValue x, const std::vector<int64_t> &axes, double epsilon) {
  return plan->Layer("MVN", {x, plan->Integers(axes)},
                     {{"eps", TextOf(epsilon)}, {"normalize_variance", "true"}, {"eps_mode", "inside_sqrt"}}, "opset6");
}

OpenVinoValue Reduced(OpenVinoPlan *plan, const char *type, OpenVinoValue x, const std::vector<int64_t> &axes) {
  return plan->Layer(type, {x, plan->Integers(axes)}, {{"keep_dims", "true"}});
}

std::string WhyNotLayer(const mslite_node &node) {
  if (LayerAxis(node) < 0) return "the axis is out of range";
  if (node.output_count > 1) return "the statistics are outputs";
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (ParameterAxis(*node.inputs[0], LayerAxis(node), CountIn(*node.inputs[i])) < 0) {
      return "the parameters do not match the row size";
    }
  }
  return CheckFloat32(node);
}

void PlanLayer(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const std::vector<int64_t> axes = AxisRange(LayerAxis(node), x.rank);
  OpenVinoValue y = plan->Input(0);
  if (node.op == MSLITE_OP_RmsNorm) {
    const OpenVinoValue mean = Reduced(plan, "ReduceMean", plan->Binary("Multiply", y, y), axes);
    const double epsilon = static_cast<const mslite_RmsNorm *>(node.params)->epsilon;
    y = plan->Binary("Divide", y, plan->Layer("Sqrt", {plan->Binary("Add", mean, plan->Real(epsilon))}));
  } else {
    y = Centered(plan, y, axes, static_cast<const mslite_LayerNormFusion *>(node.params)->epsilon);
  }
  for (int32_t i = 1; i < node.input_count; ++i) {
    const int32_t first = ParameterAxis(x, LayerAxis(node), CountIn(*node.inputs[i]));
    const OpenVinoValue parameter = plan->Reshaped(plan->Input(i), {x.dims + first, x.dims + x.rank});
    y = plan->Binary(i == 1 ? "Multiply" : "Add", y, parameter);
  }
  plan->Give(y);
}

std::string WhyNotInstance(const mslite_node &node) {
  const mslite_tensor &x = *node.inputs[0];
  if (x.rank < 3 || node.input_count != 3) return "unsupported parameters";
  if (node.op == MSLITE_OP_ChannelsLastInstanceNorm && x.rank != 4) return "the rank is not 4";
  return CheckFloat32(node);
}

// Returns a value per channel, to broadcast along dimension 1.
OpenVinoValue PerChannel(OpenVinoPlan *plan, int32_t index, int32_t rank) {
  OpenVinoIr::Dims dims(static_cast<size_t>(rank) - 1, 1);
  dims[0] = CountIn(*plan->node().inputs[index]);
  return plan->Reshaped(plan->Input(index), dims);
}

void PlanInstance(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t rank = node.inputs[0]->rank;
  const bool is_last = node.op == MSLITE_OP_ChannelsLastInstanceNorm;
  const double epsilon = is_last ? static_cast<const mslite_ChannelsLastInstanceNorm *>(node.params)->epsilon
                                 : static_cast<const mslite_InstanceNorm *>(node.params)->epsilon;
  OpenVinoValue y = Centered(plan, is_last ? plan->Image(0) : plan->Input(0), AxisRange(2, rank), epsilon);
  y = plan->Binary("Multiply", y, PerChannel(plan, 1, rank));
  y = plan->Binary("Add", y, PerChannel(plan, 2, rank));
  if (is_last) {
    plan->GiveImage(y);
  } else {
    plan->Give(y);
  }
}

std::string WhyNotGroup(const mslite_node &node) {
  const auto *params = static_cast<const mslite_GroupNormFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  if (x.rank < 3 || params->num_groups < 1 || x.dims[1] % params->num_groups != 0)
    return "the number of channels is not a multiple of the groups";
  if (node.input_count != (params->affine ? 3 : 1)) return "unsupported parameters";
  return CheckFloat32(node);
}

void PlanGroup(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_GroupNormFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  const int64_t rows = x.dims[0] * params->num_groups;
  OpenVinoValue y = plan->Reshaped(plan->Input(0), {rows, CountIn(x) / rows});
  y = plan->Reshaped(Centered(plan, y, {1}, params->epsilon), DimsOf(x));
  if (params->affine) {
    y = plan->Binary("Multiply", y, PerChannel(plan, 1, x.rank));
    y = plan->Binary("Add", y, PerChannel(plan, 2, x.rank));
  }
  plan->Give(y);
}

std::string WhyNotNorm(const mslite_node &node) {
  if (NormAxes(node).empty()) return "the axis is out of range";
  if (node.op == MSLITE_OP_LpNormalization) {
    const int64_t p = static_cast<const mslite_LpNormalization *>(node.params)->p;
    if (p != 1 && p != 2) return "the norm is not L1 or L2";
  } else if (!IsFusedActivation(static_cast<const mslite_L2NormalizeFusion *>(node.params)->activation_type)) {
    return "OpenVINO does not support the activation";
  }
  return CheckFloat32(node);
}

void PlanNorm(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const OpenVinoValue x = plan->Input(0);
  if (node.op == MSLITE_OP_LpNormalization) {
    const bool is_l1 = static_cast<const mslite_LpNormalization *>(node.params)->p == 1;
    const OpenVinoValue norm = plan->Layer(is_l1 ? "ReduceL1" : "ReduceL2", {x, plan->Integers(NormAxes(node))},
                                           {{"keep_dims", "true"}}, "opset4");
    // Rows of zeros stay zero.
    const OpenVinoValue is_zero = plan->Binary("Equal", norm, plan->Real(0));
    plan->Give(plan->Binary("Divide", x, plan->Selected(is_zero, plan->Real(1), norm)));
    return;
  }
  const auto *params = static_cast<const mslite_L2NormalizeFusion *>(node.params);
  const OpenVinoValue sum = Reduced(plan, "ReduceSum", plan->Binary("Multiply", x, x), NormAxes(node));
  const OpenVinoValue norm = plan->Layer("Sqrt", {plan->Binary("Maximum", sum, plan->Real(params->epsilon))});
  plan->Give(plan->Activated(plan->Binary("Divide", x, norm), params->activation_type));
}

std::string WhyNotLocalResponse(const mslite_node &node) {
  return node.inputs[0]->rank != 4 ? "the rank is not 4" : CheckFloat32(node);
}

// LRN: OpenVINO divides alpha by the number of summed channels, MindSpore Lite does not.
void PlanLocalResponse(OpenVinoPlan *plan) {
  const auto *params = static_cast<const mslite_LRN *>(plan->node().params);
  const int64_t size = 2 * params->depth_radius + 1;
  plan->GiveImage(plan->Layer("LRN", {plan->Image(0), plan->Integers({1})},
                              {{"alpha", TextOf(static_cast<double>(params->alpha) * static_cast<double>(size))},
                               {"beta", TextOf(params->beta)},
                               {"bias", TextOf(params->bias)},
                               {"size", std::to_string(size)}}));
}

constexpr OpenVinoOperator kNormalizationOperators[] = {
    {MSLITE_OP_Softmax, WhyNotSoftmax, PlanSoftmax},
    {MSLITE_OP_LogSoftmax, WhyNotSoftmax, PlanSoftmax},
    {MSLITE_OP_LayerNormFusion, WhyNotLayer, PlanLayer},
    {MSLITE_OP_RmsNorm, WhyNotLayer, PlanLayer},
    {MSLITE_OP_InstanceNorm, WhyNotInstance, PlanInstance},
    {MSLITE_OP_ChannelsLastInstanceNorm, WhyNotInstance, PlanInstance},
    {MSLITE_OP_GroupNormFusion, WhyNotGroup, PlanGroup},
    {MSLITE_OP_L2NormalizeFusion, WhyNotNorm, PlanNorm},
    {MSLITE_OP_LpNormalization, WhyNotNorm, PlanNorm},
    {MSLITE_OP_LRN, WhyNotLocalResponse, PlanLocalResponse},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoNormalization() { return kNormalizationOperators; }
}  // namespace mslite
