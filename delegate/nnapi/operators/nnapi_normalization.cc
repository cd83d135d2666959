// Softmax and normalizations.
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
std::string PlanSoftmax(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &y = *node.outputs[0];
  const int32_t axis = SoftmaxAxis(node);
  if (axis < 0) return "the axis is out of range";
  const bool is_logarithm = node.op == MSLITE_OP_LogSoftmax;
  if (IsStored(y)) {
    const int32_t zero = y.type == MSLITE_INT8 ? -128 : 0;
    if (is_logarithm || y.type != node.inputs[0]->type) return "unsupported quantization parameters";
    if (y.quant_count != 1 || y.quant[0].scale != 1.0 / 256 || y.quant[0].zero_point != zero) {
      return "a softmax with another scale than 1/256";
    }
  } else if (std::string reason = CheckFloat32(node); !reason.empty()) {
    return reason;
  }
  plan->Give(plan->LayerLike(is_logarithm ? NNAPI_LOG_SOFTMAX : NNAPI_SOFTMAX,
                             {plan->Input(0), plan->Real(1), plan->Whole(axis)}, y));
  return "";
}

// Returns the mean along dimensions, which are kept with size 1.
NnapiValue Mean(NnapiPlan *plan, NnapiValue x, std::vector<int64_t> dims, const std::vector<int64_t> &axes) {
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = 1;
  return plan->Layer(NNAPI_MEAN, {x, plan->Integers(axes), plan->Whole(1)}, dims);
}

// Returns 1 / sqrt(mean of squares + epsilon).
NnapiValue Spread(NnapiPlan *plan, NnapiValue x, const std::vector<int64_t> &dims, const std::vector<int64_t> &axes,
                  double epsilon) {
  std::vector<int64_t> reduced = dims;
  for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = 1;
  const NnapiValue mean = Mean(plan, plan->Binary(NNAPI_MUL, x, x, dims), dims, axes);
  return plan->Layer(NNAPI_RSQRT, {plan->Binary(NNAPI_ADD, mean, plan->Number(epsilon), reduced)}, reduced);
}

std::string PlanLayer(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int32_t first = LayerAxis(node);
  if (first < 0) return "the axis is out of range";
  if (node.output_count > 1) return "the statistics are outputs";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = NnapiDims(x);
  const std::vector<int64_t> axes = AxisRange(first, x.rank);
  NnapiValue y = plan->Input(0);
  double epsilon = 0;
  if (node.op == MSLITE_OP_RmsNorm) {
    epsilon = static_cast<const mslite_RmsNorm *>(node.params)->epsilon;
  } else {
    epsilon = static_cast<const mslite_LayerNormFusion *>(node.params)->epsilon;
    y = plan->Binary(NNAPI_SUB, y, Mean(plan, y, dims, axes), dims);
  }
  y = plan->Binary(NNAPI_MUL, y, Spread(plan, y, dims, axes, epsilon), dims);
  for (int32_t i = 1; i < node.input_count; ++i) {
    const int32_t from = ParameterAxis(x, first, CountIn(*node.inputs[i]));
    if (from < 0) return "the parameters do not match the row size";
    const NnapiValue parameter =
        plan->Reshaped(plan->Input(i),
                       from == x.rank ? std::vector<int64_t>{1} : std::vector<int64_t>(x.dims + from, x.dims + x.rank));
    y = plan->Binary(i == 1 ? NNAPI_MUL : NNAPI_ADD, y, parameter, dims);
  }
  plan->Give(y);
  return "";
}

// Instance normalization in the layout NCHW (InstanceNorm) or NHWC (ChannelsLastInstanceNorm).
std::string PlanInstance(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const bool is_last = node.op == MSLITE_OP_ChannelsLastInstanceNorm;
  if (x.rank < 3 || node.input_count != 3) return "unsupported parameters";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const double epsilon = is_last ? static_cast<const mslite_ChannelsLastInstanceNorm *>(node.params)->epsilon
                                 : static_cast<const mslite_InstanceNorm *>(node.params)->epsilon;
  const std::vector<int64_t> dims = NnapiDims(x);
  const std::vector<int64_t> axes = is_last ? AxisRange(1, x.rank - 1) : AxisRange(2, x.rank);
  std::vector<int64_t> channels(is_last ? 1 : static_cast<size_t>(x.rank) - 1, 1);
  channels[0] = dims[is_last ? dims.size() - 1 : 1];
  NnapiValue y = plan->Input(0);
  y = plan->Binary(NNAPI_SUB, y, Mean(plan, y, dims, axes), dims);
  y = plan->Binary(NNAPI_MUL, y, Spread(plan, y, dims, axes, epsilon), dims);
  y = plan->Binary(NNAPI_MUL, y, plan->Reshaped(plan->Input(1), channels), dims);
  plan->Give(plan->Binary(NNAPI_ADD, y, plan->Reshaped(plan->Input(2), channels), dims));
  return "";
}

std::string PlanNorm(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_L2NormalizeFusion *>(node.params);
  const std::vector<int64_t> axes = NormAxes(node);
  if (axes.empty()) return "the axis is out of range";
  if (!IsNnapiActivation(params->activation_type)) return "NNAPI does not support the activation";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = NnapiDims(*node.inputs[0]);
  std::vector<int64_t> reduced = dims;
  for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = 1;
  const NnapiValue x = plan->Input(0);
  const NnapiValue square = plan->Binary(NNAPI_MUL, x, x, dims);
  const NnapiValue sum = plan->Layer(NNAPI_REDUCE_SUM, {square, plan->Integers(axes), plan->Truth(true)}, reduced);
  const NnapiValue norm = plan->Layer(NNAPI_MAXIMUM, {sum, plan->Number(params->epsilon)}, reduced);
  const NnapiValue y = plan->Binary(NNAPI_MUL, x, plan->Layer(NNAPI_RSQRT, {norm}, reduced), dims);
  plan->Give(plan->Activated(y, params->activation_type, dims));
  return "";
}

std::string PlanLocalResponse(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_LRN *>(node.params);
  if (node.inputs[0]->rank != 4) return "the rank is not 4";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  plan->Give(plan->Layer(NNAPI_LOCAL_RESPONSE_NORMALIZATION,
                         {plan->Input(0), plan->Whole(params->depth_radius), plan->Real(params->bias),
                          plan->Real(params->alpha), plan->Real(params->beta)},
                         NnapiDims(*node.outputs[0])));
  return "";
}

constexpr NnapiOperator kNormalizationOperators[] = {
    {MSLITE_OP_Softmax, PlanSoftmax, true},
    {MSLITE_OP_LogSoftmax, PlanSoftmax},
    {MSLITE_OP_LayerNormFusion, PlanLayer},
    {MSLITE_OP_RmsNorm, PlanLayer},
    {MSLITE_OP_InstanceNorm, PlanInstance},
    {MSLITE_OP_ChannelsLastInstanceNorm, PlanInstance},
    {MSLITE_OP_L2NormalizeFusion, PlanNorm},
    {MSLITE_OP_LRN, PlanLocalResponse},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiNormalization() { return kNormalizationOperators; }
}  // namespace mslite
