// Element-wise operators with broadcasting.
#include "nnrt/operators/families.h"

namespace mslite {
namespace {
struct Function {
  int32_t op;
  NnrtCode code;
  NnrtRole activation = NNRT_TENSOR;  // the attribute for a fused activation, if the operation has one
};

constexpr Function kFunctions[] = {
    {MSLITE_OP_Abs, NNRT_ABS},
    {MSLITE_OP_Ceil, NNRT_CEIL},
    {MSLITE_OP_Cos, NNRT_COS},
    {MSLITE_OP_Erf, NNRT_ERF},
    {MSLITE_OP_Floor, NNRT_FLOOR},
    {MSLITE_OP_Log, NNRT_LOG},
    {MSLITE_OP_Neg, NNRT_NEG},
    {MSLITE_OP_Reciprocal, NNRT_RECIPROCAL},
    {MSLITE_OP_Rsqrt, NNRT_RSQRT},
    {MSLITE_OP_Sin, NNRT_SIN},
    {MSLITE_OP_Sqrt, NNRT_SQRT},
    {MSLITE_OP_Square, NNRT_SQUARE},
    {MSLITE_OP_AddFusion, NNRT_ADD, NNRT_ADD_ACTIVATION},
    {MSLITE_OP_BiasAdd, NNRT_ADD, NNRT_ADD_ACTIVATION},
    {MSLITE_OP_SubFusion, NNRT_SUB, NNRT_SUB_ACTIVATION},
    {MSLITE_OP_MulFusion, NNRT_MUL, NNRT_MUL_ACTIVATION},
    {MSLITE_OP_DivFusion, NNRT_DIV, NNRT_DIV_ACTIVATION},
    {MSLITE_OP_RealDiv, NNRT_DIV, NNRT_DIV_ACTIVATION},
    {MSLITE_OP_Maximum, NNRT_MAXIMUM},
    {MSLITE_OP_Minimum, NNRT_MINIMUM},
    {MSLITE_OP_SquaredDifference, NNRT_SQUARED_DIFFERENCE},
    {MSLITE_OP_Equal, NNRT_EQUAL},
    {MSLITE_OP_NotEqual, NNRT_NOT_EQUAL},
    {MSLITE_OP_Less, NNRT_LESS},
    {MSLITE_OP_LessEqual, NNRT_LESS_EQUAL},
    {MSLITE_OP_Greater, NNRT_GREATER},
    {MSLITE_OP_GreaterEqual, NNRT_GREATER_EQUAL},
    {MSLITE_OP_LogicalAnd, NNRT_LOGICAL_AND},
    {MSLITE_OP_LogicalOr, NNRT_LOGICAL_OR},
    {MSLITE_OP_LogicalNot, NNRT_LOGICAL_NOT},
};

const Function &FunctionOf(int32_t op) {
  const Function *function = kFunctions;
  while (function->op != op) ++function;
  return *function;
}

std::vector<int64_t> ResultDims(const NnrtPlan &plan) { return NnrtDims(*plan.node().outputs[0]); }

// Functions float32 to float32, bool to bool, or float32 to bool.
std::string PlanFunction(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const Function &function = FunctionOf(node.op);
  const bool is_logical =
      function.code == NNRT_LOGICAL_AND || function.code == NNRT_LOGICAL_OR || function.code == NNRT_LOGICAL_NOT;
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != (is_logical ? MSLITE_BOOL : MSLITE_FLOAT32)) {
      return is_logical ? "an input is not bool" : "an input is not float32";
    }
  }
  const int32_t activation = FusedActivation(node);
  if (!IsNnrtActivation(activation)) return "NNRT does not support the activation";
  NnrtFuse fuse;
  const bool is_fused = FusedNnrtActivation(activation, &fuse);
  std::vector<NnrtValue> attributes;
  if (function.activation != NNRT_TENSOR) attributes.push_back(plan->Small(function.activation, fuse));
  const NnrtValue y = plan->Layer(function.code, attributes, plan->Inputs(node.input_count), ResultDims(*plan));
  plan->Give(is_fused ? y : plan->Activated(y, activation, ResultDims(*plan)));
  return "";
}

std::string PlanActivation(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_Activation *>(node.params);
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = ResultDims(*plan);
  if (params->activation_type == MSLITE_ACTIVATION_TYPE_LEAKY_RELU) {
    plan->Give(plan->Layer(NNRT_LEAKY_RELU, {plan->Real(NNRT_LEAKY_RELU_NEGATIVE_SLOPE, params->alpha)},
                           {plan->Input(0)}, dims));
    return "";
  }
  const bool is_fast = params->activation_type == MSLITE_ACTIVATION_TYPE_GELU && params->approximate;
  const int32_t activation = is_fast ? int32_t{MSLITE_ACTIVATION_TYPE_FAST_GELU} : params->activation_type;
  if (!IsNnrtActivation(activation)) return "NNRT does not support the activation";
  plan->Give(plan->Activated(plan->Input(0), activation, dims));
  return "";
}

std::string PlanWithNumbers(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = ResultDims(*plan);
  switch (node.op) {
    case MSLITE_OP_LeakyRelu: {
      const float slope = static_cast<const mslite_LeakyRelu *>(node.params)->negative_slope;
      plan->Give(
          plan->Layer(NNRT_LEAKY_RELU, {plan->Real(NNRT_LEAKY_RELU_NEGATIVE_SLOPE, slope)}, {plan->Input(0)}, dims));
      return "";
    }
    case MSLITE_OP_PReLUFusion:
      if (CountIn(*node.inputs[1]) != dims.back()) return "the slopes are not per channel";
      plan->Give(plan->Layer(NNRT_PRELU, {}, {plan->Input(0), plan->Reshaped(plan->Input(1), {dims.back()})}, dims));
      return "";
    case MSLITE_OP_Clip: {
      const auto *params = static_cast<const mslite_Clip *>(node.params);
      if (node.input_count > 1) return "the bounds are not attributes";
      plan->Give(plan->Layer(NNRT_CLIP,
                             {plan->Real(NNRT_CLIP_MAX, params->max), plan->Real(NNRT_CLIP_MIN, params->min)},
                             {plan->Input(0)}, dims));
      return "";
    }
    case MSLITE_OP_PowFusion: {
      const auto *params = static_cast<const mslite_PowFusion *>(node.params);
      if (node.input_count != 2) return "the exponent is missing";
      plan->Give(plan->Layer(NNRT_POW,
                             {plan->Real(NNRT_POW_SCALE, params->scale), plan->Real(NNRT_POW_SHIFT, params->shift)},
                             plan->Inputs(2), dims));
      return "";
    }
    default: {  // ExpFusion
      const auto *params = static_cast<const mslite_ExpFusion *>(node.params);
      plan->Give(plan->Layer(NNRT_EXP,
                             {plan->Real(NNRT_EXP_BASE, params->base), plan->Real(NNRT_EXP_SCALE, params->scale),
                              plan->Real(NNRT_EXP_SHIFT, params->shift)},
                             {plan->Input(0)}, dims));
      return "";
    }
  }
}

std::string PlanBatchNorm(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<float> factor;
  std::vector<float> offset;
  if (node.output_count > 1) return "the statistics are outputs";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!FoldBatchNorm(node, &factor, &offset)) return "the statistics are not constant";
  const std::vector<int64_t> dims = ResultDims(*plan);
  const NnrtValue scaled = plan->Layer(NNRT_MUL, {plan->Small(NNRT_MUL_ACTIVATION, NNRT_FUSED_NONE)},
                                       {plan->Input(0), plan->Reals(factor)}, dims);
  plan->Give(
      plan->Layer(NNRT_ADD, {plan->Small(NNRT_ADD_ACTIVATION, NNRT_FUSED_NONE)}, {scaled, plan->Reals(offset)}, dims));
  return "";
}

constexpr NnrtOperator kElementwiseOperators[] = {
    {MSLITE_OP_Abs, PlanFunction},
    {MSLITE_OP_Ceil, PlanFunction},
    {MSLITE_OP_Cos, PlanFunction},
    {MSLITE_OP_Erf, PlanFunction},
    {MSLITE_OP_Floor, PlanFunction},
    {MSLITE_OP_Log, PlanFunction},
    {MSLITE_OP_Neg, PlanFunction},
    {MSLITE_OP_Reciprocal, PlanFunction},
    {MSLITE_OP_Rsqrt, PlanFunction},
    {MSLITE_OP_Sin, PlanFunction},
    {MSLITE_OP_Sqrt, PlanFunction},
    {MSLITE_OP_Square, PlanFunction},
    {MSLITE_OP_AddFusion, PlanFunction},
    {MSLITE_OP_BiasAdd, PlanFunction},
    {MSLITE_OP_SubFusion, PlanFunction},
    {MSLITE_OP_MulFusion, PlanFunction},
    {MSLITE_OP_DivFusion, PlanFunction},
    {MSLITE_OP_RealDiv, PlanFunction},
    {MSLITE_OP_Maximum, PlanFunction},
    {MSLITE_OP_Minimum, PlanFunction},
    {MSLITE_OP_SquaredDifference, PlanFunction},
    {MSLITE_OP_Equal, PlanFunction},
    {MSLITE_OP_NotEqual, PlanFunction},
    {MSLITE_OP_Less, PlanFunction},
    {MSLITE_OP_LessEqual, PlanFunction},
    {MSLITE_OP_Greater, PlanFunction},
    {MSLITE_OP_GreaterEqual, PlanFunction},
    {MSLITE_OP_LogicalAnd, PlanFunction},
    {MSLITE_OP_LogicalOr, PlanFunction},
    {MSLITE_OP_LogicalNot, PlanFunction},
    {MSLITE_OP_Activation, PlanActivation},
    {MSLITE_OP_LeakyRelu, PlanWithNumbers},
    {MSLITE_OP_PReLUFusion, PlanWithNumbers},
    {MSLITE_OP_Clip, PlanWithNumbers},
    {MSLITE_OP_PowFusion, PlanWithNumbers},
    {MSLITE_OP_ExpFusion, PlanWithNumbers},
    {MSLITE_OP_BatchNorm, PlanBatchNorm},
    {MSLITE_OP_FusedBatchNorm, PlanBatchNorm},
    {0, nullptr},
};
}  // namespace

const NnrtOperator *NnrtElementwise() { return kElementwiseOperators; }
}  // namespace mslite
