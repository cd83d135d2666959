// Operators that work on rows: matmuls, normalizations, reductions.
#include "matmul/geometry.h"
#include "nnrt/operators/families.h"

namespace mslite {
namespace {
std::string PlanProduct(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_matmul p;
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_matmul_fits(&node, MSLITE_FLOAT32, &p)) return "unsupported parameters of the matmul";
  if (!IsNnrtActivation(p.activation)) return "NNRT does not support the activation";
  const mslite_tensor &b = *node.inputs[1];
  const bool is_full = node.op == MSLITE_OP_FullConnection;
  if (node.inputs[0]->rank < 2 || b.rank < 2) return "an input of the matmul is a vector";
  const std::vector<int64_t> result = NnrtDims(*node.outputs[0]);
  const std::vector<int64_t> dims = is_full ? std::vector<int64_t>{p.m, p.n} : result;
  const NnrtValue a = is_full ? plan->Reshaped(plan->Input(0), {p.m, p.k}) : plan->Input(0);
  NnrtFuse fuse;
  const bool is_fused = FusedNnrtActivation(p.activation, &fuse);
  NnrtValue y = plan->Layer(NNRT_MATMUL,
                            {plan->Flag(NNRT_MATMUL_TRANSPOSE_A, !is_full && p.transpose_a),
                             plan->Flag(NNRT_MATMUL_TRANSPOSE_B, is_full || p.transpose_b),
                             plan->Small(NNRT_MATMUL_ACTIVATION, p.has_bias ? NNRT_FUSED_NONE : fuse)},
                            {a, plan->Input(1)}, dims);
  if (p.has_bias) {
    y = plan->Layer(NNRT_ADD, {plan->Small(NNRT_ADD_ACTIVATION, fuse)}, {y, plan->Reshaped(plan->Input(2), {p.n})},
                    dims);
  }
  if (!is_fused) y = plan->Activated(y, p.activation, dims);
  plan->Give(plan->Reshaped(y, result));
  return "";
}

std::string PlanSoftmax(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = SoftmaxAxis(node);
  if (axis < 0) return "the axis is out of range";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const bool is_logarithm = node.op == MSLITE_OP_LogSoftmax;
  plan->Give(plan->Layer(is_logarithm ? NNRT_LOG_SOFTMAX : NNRT_SOFTMAX,
                         {plan->Whole(is_logarithm ? NNRT_LOG_SOFTMAX_AXIS : NNRT_SOFTMAX_AXIS, axis)},
                         {plan->Input(0)}, NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanLayerNorm(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_LayerNormFusion *>(node.params);
  const int32_t first = LayerAxis(node);
  if (first < 0) return "the axis is out of range";
  if (node.output_count > 1 || node.input_count != 3) return "unsupported parameters";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  for (int32_t i = 1; i < 3; ++i) {
    if (ParameterAxis(*node.inputs[0], first, CountIn(*node.inputs[i])) != first) {
      return "the parameters do not match the row size";
    }
  }
  plan->Give(plan->Layer(
      NNRT_LAYER_NORM,
      {plan->Whole(NNRT_LAYER_NORM_BEGIN_NORM_AXIS, first), plan->Real(NNRT_LAYER_NORM_EPSILON, params->epsilon),
       plan->Whole(NNRT_LAYER_NORM_BEGIN_PARAM_AXIS, first)},
      plan->Inputs(3), NnrtDims(*node.outputs[0])));
  return "";
}

struct Mode {
  int32_t mode;
  NnrtCode code;
  NnrtRole keeps;
};

constexpr Mode kModes[] = {
    {MSLITE_REDUCE_MODE_REDUCE_MEAN, NNRT_REDUCE_MEAN, NNRT_REDUCE_MEAN_KEEP_DIMS},
    {MSLITE_REDUCE_MODE_REDUCE_MAX, NNRT_REDUCE_MAX, NNRT_REDUCE_MAX_KEEP_DIMS},
    {MSLITE_REDUCE_MODE_REDUCE_MIN, NNRT_REDUCE_MIN, NNRT_REDUCE_MIN_KEEP_DIMS},
    {MSLITE_REDUCE_MODE_REDUCE_PROD, NNRT_REDUCE_PROD, NNRT_REDUCE_PROD_KEEP_DIMS},
    {MSLITE_REDUCE_MODE_REDUCE_SUM, NNRT_REDUCE_SUM, NNRT_REDUCE_SUM_KEEP_DIMS},
};

std::string PlanReduce(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  std::vector<int64_t> axes;
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32) {
    return "an input is not float32";
  }
  if (!ReduceAxes(node, &axes)) return "the axes are not constant";
  if (params->reduce_to_end && params->coeff != 1) return "the output is scaled";
  for (const Mode &mode : kModes) {
    if (mode.mode != params->mode) continue;
    std::vector<int64_t> dims = NnrtDims(*node.inputs[0]);
    for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = 1;
    const NnrtValue y =
        plan->Layer(mode.code, {plan->Flag(mode.keeps, true)}, {plan->Input(0), plan->Integers(axes)}, dims);
    plan->Give(plan->Reshaped(y, NnrtDims(*node.outputs[0])));
    return "";
  }
  return "NNRT does not support the reduction";
}

std::string PlanArgMax(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const ArgAttributes attributes = ArgOf(node);
  if (attributes.axis < 0 || !attributes.is_first_index || node.output_count != 1)
    return "it returns more than one index";
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_INT32) return "an input is not float32";
  std::vector<int64_t> dims = NnrtDims(*node.inputs[0]);
  dims[static_cast<size_t>(attributes.axis)] = 1;
  const NnrtValue y = plan->Layer(
      NNRT_ARG_MAX, {plan->Whole(NNRT_ARG_MAX_AXIS, attributes.axis), plan->Flag(NNRT_ARG_MAX_KEEP_DIMS, true)},
      {plan->Input(0)}, dims);
  plan->Give(plan->Reshaped(y, NnrtDims(*node.outputs[0])));
  return "";
}

constexpr NnrtOperator kRowsOperators[] = {
    {MSLITE_OP_MatMulFusion, PlanProduct},      {MSLITE_OP_FullConnection, PlanProduct},
    {MSLITE_OP_Softmax, PlanSoftmax},           {MSLITE_OP_LogSoftmax, PlanSoftmax},
    {MSLITE_OP_LayerNormFusion, PlanLayerNorm}, {MSLITE_OP_ReduceFusion, PlanReduce},
    {MSLITE_OP_ArgMaxFusion, PlanArgMax},       {0, nullptr},
};
}  // namespace

const NnrtOperator *NnrtRows() { return kRowsOperators; }
}  // namespace mslite
