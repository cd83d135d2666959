// Softmax and normalizations.
#include "engine/attributes.h"
#include "opencl/operators/families.h"

namespace mslite {
namespace {
// A tensor as [outer, length, inner]: rows of `length` elements with the stride `inner`.
struct Rows {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

// Returns the rows along the dimensions [begin, end).
Rows RowsOf(const mslite_tensor &x, int32_t begin, int32_t end) {
  Rows rows;
  for (int32_t i = 0; i < x.rank; ++i) {
    int64_t &part = i < begin ? rows.outer : i < end ? rows.length : rows.inner;
    part *= x.dims[i];
  }
  return rows;
}

// Returns the number of work items per row; short rows need fewer.
int64_t GroupOf(const Rows &rows) {
  int64_t group = 1;
  while (group < 64 && group * 2 <= rows.length) group *= 2;
  return group;
}

OpenClLaunch &LaunchRows(OpenClPlan *plan, const char *function, const Rows &rows) {
  const int64_t group = GroupOf(rows);
  return plan->Launch("rows", function).Define("GROUP", group).Groups(rows.outer * rows.inner, group);
}

std::string WhyNotSoftmax(const mslite_node &node) {
  return SoftmaxAxis(node) < 0 ? "the axis is out of range" : WhyNotReal(node);
}

void PlanSoftmax(OpenClPlan *plan) {
  const int32_t axis = SoftmaxAxis(plan->node());
  const Rows rows = RowsOf(*plan->node().inputs[0], axis, axis + 1);
  OpenClLaunch &launch = LaunchRows(plan, "softmax", rows);
  if (plan->node().op == MSLITE_OP_LogSoftmax) launch.Define("LOGARITHM", 1);
  launch.Input("x", plan->Input(0)).Output("y", plan->Output()).Integer(rows.length).Integer(rows.inner);
  launch.Touches(0, 3 * CountOf(*plan->node().inputs[0]));
  if (plan->node().op == MSLITE_OP_Softmax && rows.inner == 1) launch.softmax_length = rows.length;
}

void Normalize(OpenClPlan *plan, const Rows &rows, double epsilon, const std::string &parameter,
               bool is_centered = true) {
  const mslite_node &node = plan->node();
  OpenClLaunch &launch = LaunchRows(plan, "normalize_rows", rows);
  launch.Define("PARAMETER", parameter).TakesEpilogue(false);
  if (!is_centered) launch.Define("UNCENTERED", 1);
  if (HasInput(node, 1)) launch.Define("GAMMA", 1);
  if (HasInput(node, 2)) launch.Define("BETA", 1);
  launch.Input("x", plan->Input(0)).Input("gamma", plan->Input(HasInput(node, 1) ? 1 : 0));
  launch.Input("beta", plan->Input(HasInput(node, 2) ? 2 : 0)).Output("y", plan->Output());
  launch.Integer(rows.length).Integer(rows.inner).Real(epsilon);
  const int64_t count = CountOf(*node.inputs[0]);
  launch.Touches(0, (is_centered ? 3 : 2) * count).Touches(1, HasInput(node, 1) ? count : 0);
  launch.Touches(2, HasInput(node, 2) ? count : 0);
}

std::string WhyNotLayer(const mslite_node &node) {
  if (LayerAxis(node) < 0) return "the axis is out of range";
  if (node.output_count > 1) return "the statistics are outputs";
  for (int32_t i = 1; i < node.input_count; ++i) {
    // The parameters are the same for all rows.
    const Rows rows = RowsOf(*node.inputs[0], LayerAxis(node), node.inputs[0]->rank);
    if (rows.length % CountOf(*node.inputs[i]) != 0) return "the parameters do not match the row size";
  }
  return WhyNotReal(node);
}

void PlanLayer(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const bool is_rms = node.op == MSLITE_OP_RmsNorm;
  const double epsilon = is_rms ? static_cast<const mslite_RmsNorm *>(node.params)->epsilon
                                : static_cast<const mslite_LayerNormFusion *>(node.params)->epsilon;
  const std::string period = HasInput(node, 1) ? std::to_string(CountOf(*node.inputs[1])) : "1";
  const Rows rows = RowsOf(*node.inputs[0], LayerAxis(node), node.inputs[0]->rank);
  Normalize(plan, rows, epsilon, "i%" + period, !is_rms);
}

std::string WhyNotInstance(const mslite_node &node) {
  if (node.inputs[0]->rank < 3) return "the rank is below 3";
  return WhyNotReal(node);
}

void PlanInstance(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  if (node.op == MSLITE_OP_ChannelsLastInstanceNorm) {
    const double epsilon = static_cast<const mslite_ChannelsLastInstanceNorm *>(node.params)->epsilon;
    Normalize(plan, RowsOf(x, 1, x.rank - 1), epsilon, "inside");
    return;
  }
  const double epsilon = static_cast<const mslite_InstanceNorm *>(node.params)->epsilon;
  Normalize(plan, RowsOf(x, 2, x.rank), epsilon, "outside%" + std::to_string(x.dims[1]));
}

std::string WhyNotGroup(const mslite_node &node) {
  const auto *params = static_cast<const mslite_GroupNormFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  if (x.rank < 2 || params->num_groups < 1 || x.dims[1] % params->num_groups != 0)
    return "the number of channels is not a multiple of the groups";
  if (params->affine != HasInput(node, 2)) return "unsupported parameters";
  return WhyNotReal(node);
}

void PlanGroup(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_GroupNormFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  const int64_t pixels = RowsOf(x, 2, x.rank).length;
  const int64_t channels = x.dims[1] / params->num_groups;
  const Rows rows = {x.dims[0] * params->num_groups, channels * pixels, 1};
  Normalize(plan, rows, params->epsilon,
            "outside%" + std::to_string(params->num_groups) + "*" + std::to_string(channels) + "+i/" +
                std::to_string(pixels));
}

// Finds the normalized dimensions if they are adjacent.
bool NormDimensions(const mslite_node &node, int32_t *begin, int32_t *end) {
  const int32_t rank = node.inputs[0]->rank;
  *begin = 0;
  *end = rank;
  if (node.op == MSLITE_OP_LpNormalization) {
    *begin = mslite_normalize_axis(static_cast<const mslite_LpNormalization *>(node.params)->axis, rank);
    *end = *begin + 1;
    return *begin >= 0;
  }
  const mslite_longs axes = static_cast<const mslite_L2NormalizeFusion *>(node.params)->axis;
  if (axes.count == 0) return true;
  std::vector<bool> is_reduced(static_cast<size_t>(rank), false);
  for (int64_t i = 0; i < static_cast<int64_t>(axes.count); ++i) {
    const int32_t axis = mslite_normalize_axis(axes.at[i], rank);
    if (axis < 0) return false;
    is_reduced[static_cast<size_t>(axis)] = true;
  }
  while (!is_reduced[static_cast<size_t>(*begin)]) ++*begin;
  *end = *begin;
  while (*end < rank && is_reduced[static_cast<size_t>(*end)]) ++*end;
  for (int32_t i = *end; i < rank; ++i) {
    if (is_reduced[static_cast<size_t>(i)]) return false;
  }
  return true;
}

std::string WhyNotNorm(const mslite_node &node) {
  int32_t begin = 0;
  int32_t end = 0;
  if (!NormDimensions(node, &begin, &end)) return "the axes are not adjacent";
  if (node.op == MSLITE_OP_LpNormalization) {
    const int64_t p = static_cast<const mslite_LpNormalization *>(node.params)->p;
    if (p != 1 && p != 2) return "the norm is not L1 or L2";
  }
  return WhyNotReal(node);
}

void PlanNorm(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  int32_t begin = 0;
  int32_t end = 0;
  NormDimensions(node, &begin, &end);
  const Rows rows = RowsOf(*node.inputs[0], begin, end);
  OpenClLaunch &launch = LaunchRows(plan, "norm", rows);
  double least = 0;
  if (node.op == MSLITE_OP_LpNormalization) {
    if (static_cast<const mslite_LpNormalization *>(node.params)->p == 1) launch.Define("ABSOLUTE", 1);
  } else {
    const auto *params = static_cast<const mslite_L2NormalizeFusion *>(node.params);
    least = params->epsilon;
    launch.Define("ACTIVATION", params->activation_type);
  }
  launch.Input("x", plan->Input(0)).Output("y", plan->Output()).Integer(rows.length).Integer(rows.inner).Real(least);
  launch.Touches(0, 2 * CountOf(*node.inputs[0]));
}

void PlanLocalResponse(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_LRN *>(node.params);
  const int64_t count = CountOf(*node.inputs[0]);
  OpenClLaunch &launch = plan->Launch("rows", "local_response");
  launch.Define("GROUP", 1).Input("x", plan->Input(0)).Output("y", plan->Output());
  launch.Integer(node.inputs[0]->dims[node.inputs[0]->rank - 1]).Integer(params->depth_radius);
  launch.Real(params->bias).Real(params->alpha).Real(params->beta).Integer(count).Items(count);
  launch.Touches(0, (2 * params->depth_radius + 2) * count);
}

std::string WhyNotLocalResponse(const mslite_node &node) {
  return node.inputs[0]->rank < 1 ? "the input is a scalar" : WhyNotReal(node);
}

constexpr OpenClOperator kNormalizationOperators[] = {
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

const OpenClOperator *OpenClNormalization() { return kNormalizationOperators; }
}  // namespace mslite
