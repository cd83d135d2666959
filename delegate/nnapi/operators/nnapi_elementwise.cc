// Element-wise operators with broadcasting.
#include <cmath>

#include "nnapi/operators/families.h"

namespace mslite {
namespace {
struct Function {
  int32_t op;
  NnapiCode code;
};

constexpr Function kFunctions[] = {
    {MSLITE_OP_Abs, NNAPI_ABS},
    {MSLITE_OP_Floor, NNAPI_FLOOR},
    {MSLITE_OP_Log, NNAPI_LOG},
    {MSLITE_OP_Neg, NNAPI_NEG},
    {MSLITE_OP_Rsqrt, NNAPI_RSQRT},
    {MSLITE_OP_Sin, NNAPI_SIN},
    {MSLITE_OP_Sqrt, NNAPI_SQRT},
    {MSLITE_OP_LogicalNot, NNAPI_LOGICAL_NOT},
    {MSLITE_OP_AddFusion, NNAPI_ADD},
    {MSLITE_OP_BiasAdd, NNAPI_ADD},
    {MSLITE_OP_SubFusion, NNAPI_SUB},
    {MSLITE_OP_MulFusion, NNAPI_MUL},
    {MSLITE_OP_DivFusion, NNAPI_DIV},
    {MSLITE_OP_RealDiv, NNAPI_DIV},
    {MSLITE_OP_Maximum, NNAPI_MAXIMUM},
    {MSLITE_OP_Minimum, NNAPI_MINIMUM},
    {MSLITE_OP_Equal, NNAPI_EQUAL},
    {MSLITE_OP_NotEqual, NNAPI_NOT_EQUAL},
    {MSLITE_OP_Less, NNAPI_LESS},
    {MSLITE_OP_LessEqual, NNAPI_LESS_EQUAL},
    {MSLITE_OP_Greater, NNAPI_GREATER},
    {MSLITE_OP_GreaterEqual, NNAPI_GREATER_EQUAL},
    {MSLITE_OP_LogicalAnd, NNAPI_LOGICAL_AND},
    {MSLITE_OP_LogicalOr, NNAPI_LOGICAL_OR},
};

NnapiCode CodeOf(int32_t op) {
  for (const Function &function : kFunctions) {
    if (function.op == op) return function.code;
  }
  return NNAPI_ADD;
}

std::vector<int64_t> ResultDims(const NnapiPlan &plan) { return NnapiDims(*plan.node().outputs[0]); }

std::string PlanUnary(NnapiPlan *plan) {
  if (std::string reason = CheckFloat32(plan->node()); !reason.empty()) return reason;
  plan->Give(plan->Layer(CodeOf(plan->node().op), {plan->Input(0)}, ResultDims(*plan)));
  return "";
}

// Binary operations on two tensors of one data type, with a fused activation.
std::string PlanArithmetic(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.input_count != 2) return "the number of inputs is not 2";
  const int32_t type = node.inputs[0]->type;
  if (node.inputs[1]->type != type || node.outputs[0]->type != type) return "the inputs have unsupported data types";
  const bool is_integer = type == MSLITE_INT32;
  const NnapiCode code = CodeOf(node.op);
  if (type == MSLITE_BOOL || (code == NNAPI_DIV && type != MSLITE_FLOAT32)) return "the inputs are not float";
  NnapiFuse fuse;
  const int32_t activation = FusedActivation(node);
  const bool is_fused = FusedNnapiActivation(activation, &fuse);
  if (type != MSLITE_FLOAT32 && (!is_fused || (is_integer && fuse != NNAPI_FUSED_NONE))) {
    return "NNAPI does not support the activation";
  }
  if (!IsNnapiActivation(activation)) return "NNAPI does not support the activation";
  const NnapiValue y = plan->LayerLike(code, {plan->Input(0), plan->Input(1), plan->Whole(fuse)}, *node.outputs[0]);
  plan->Give(is_fused ? y : plan->Activated(y, activation, ResultDims(*plan)));
  return "";
}

std::string PlanExtremum(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  plan->Give(plan->Layer(CodeOf(node.op), {plan->Input(0), plan->Input(1)}, ResultDims(*plan)));
  return "";
}

std::string PlanComparison(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t type = node.inputs[0]->type;
  if ((type != MSLITE_FLOAT32 && type != MSLITE_INT32) || node.inputs[1]->type != type) {
    return "NNAPI does not compare these data types";
  }
  plan->Give(plan->Layer(CodeOf(node.op), {plan->Input(0), plan->Input(1)}, ResultDims(*plan), NNAPI_TENSOR_BOOL8));
  return "";
}

std::string PlanLogical(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<NnapiValue> inputs;
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != MSLITE_BOOL) return "an input is not bool";
    inputs.push_back(plan->Input(i));
  }
  plan->Give(plan->Layer(CodeOf(node.op), inputs, ResultDims(*plan), NNAPI_TENSOR_BOOL8));
  return "";
}

// Functions that need several NNAPI operations.
std::string PlanComposed(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = ResultDims(*plan);
  const NnapiValue x = plan->Input(0);
  switch (node.op) {
    case MSLITE_OP_Square:
      plan->Give(plan->Binary(NNAPI_MUL, x, x, dims));
      return "";
    case MSLITE_OP_Reciprocal:
      plan->Give(plan->Binary(NNAPI_DIV, plan->Number(1), x, dims));
      return "";
    case MSLITE_OP_Ceil:
      plan->Give(plan->Layer(NNAPI_NEG, {plan->Layer(NNAPI_FLOOR, {plan->Layer(NNAPI_NEG, {x}, dims)}, dims)}, dims));
      return "";
    case MSLITE_OP_Erf:
      plan->Give(plan->ErrorFunction(x, dims));
      return "";
    case MSLITE_OP_SquaredDifference: {
      const NnapiValue difference = plan->Binary(NNAPI_SUB, x, plan->Input(1), dims);
      plan->Give(plan->Binary(NNAPI_MUL, difference, difference, dims));
      return "";
    }
    case MSLITE_OP_PowFusion: {
      const auto *params = static_cast<const mslite_PowFusion *>(node.params);
      if (node.input_count != 2 || params->scale != 1 || params->shift != 0)
        return "unsupported parameters of the power";
      plan->Give(plan->Layer(NNAPI_POW, {x, plan->Input(1)}, dims));
      return "";
    }
    default: {  // ExpFusion
      const auto *params = static_cast<const mslite_ExpFusion *>(node.params);
      if (params->base != -1 && !(params->base > 0)) return "a power of a negative base";
      const double factor = params->base == -1 ? 1 : std::log(static_cast<double>(params->base));
      NnapiValue exponent = x;
      if (params->scale != 1 || factor != 1) {
        exponent = plan->Binary(NNAPI_MUL, exponent, plan->Number(params->scale * factor), dims);
      }
      if (params->shift != 0) exponent = plan->Binary(NNAPI_ADD, exponent, plan->Number(params->shift * factor), dims);
      plan->Give(plan->Layer(NNAPI_EXP, {exponent}, dims));
      return "";
    }
  }
}

// Activations of quantized tensors. NNAPI requires fixed output scales for some of them.
std::string PlanStoredActivation(NnapiPlan *plan, int32_t activation) {
  const mslite_node &node = plan->node();
  const mslite_tensor &y = *node.outputs[0];
  if (y.type != node.inputs[0]->type || y.quant_count != 1) return "the values have different data types";
  const auto gives = [&](double scale, int32_t signed_zero, int32_t unsigned_zero) {
    return y.quant[0].scale == scale && y.quant[0].zero_point == (y.type == MSLITE_INT8 ? signed_zero : unsigned_zero);
  };
  NnapiCode code = NNAPI_RELU;
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
      if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
      if (activation == MSLITE_ACTIVATION_TYPE_RELU6) code = NNAPI_RELU6;
      if (activation == MSLITE_ACTIVATION_TYPE_RELU1) code = NNAPI_RELU1;
      break;
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      if (!gives(1.0 / 256, -128, 0)) return "a sigmoid with another scale than 1/256";
      code = NNAPI_LOGISTIC;
      break;
    case MSLITE_ACTIVATION_TYPE_TANH:
      if (!gives(1.0 / 128, 0, 128)) return "a tanh with another scale than 1/128";
      code = NNAPI_TANH;
      break;
    default:
      return "NNAPI does not support the activation for quantized tensors";
  }
  plan->Give(plan->LayerLike(code, {plan->Input(0)}, y));
  return "";
}

std::string PlanActivation(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_Activation *>(node.params);
  if (IsStored(*node.inputs[0])) return PlanStoredActivation(plan, params->activation_type);
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = ResultDims(*plan);
  switch (params->activation_type) {
    case MSLITE_ACTIVATION_TYPE_ELU:
      plan->Give(plan->Layer(NNAPI_ELU, {plan->Input(0), plan->Real(params->alpha)}, dims));
      return "";
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      plan->Give(plan->Layer(NNAPI_PRELU, {plan->Input(0), plan->Number(params->alpha)}, dims));
      return "";
    case MSLITE_ACTIVATION_TYPE_HARD_TANH: {
      if (params->min_val > params->max_val) return "bounds in the wrong order";
      const NnapiValue low = plan->Layer(NNAPI_MAXIMUM, {plan->Input(0), plan->Number(params->min_val)}, dims);
      plan->Give(plan->Layer(NNAPI_MINIMUM, {low, plan->Number(params->max_val)}, dims));
      return "";
    }
    default:
      break;
  }
  const bool is_fast = params->activation_type == MSLITE_ACTIVATION_TYPE_GELU && params->approximate;
  const int32_t activation = is_fast ? int32_t{MSLITE_ACTIVATION_TYPE_FAST_GELU} : params->activation_type;
  if (!IsNnapiActivation(activation)) return "NNAPI does not support the activation";
  plan->Give(plan->Activated(plan->Input(0), activation, dims));
  return "";
}

std::string PlanSlope(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const std::vector<int64_t> dims = ResultDims(*plan);
  if (node.op == MSLITE_OP_Elu) {
    const float alpha = static_cast<const mslite_Elu *>(node.params)->alpha;
    plan->Give(plan->Layer(NNAPI_ELU, {plan->Input(0), plan->Real(alpha)}, dims));
    return "";
  }
  if (node.op == MSLITE_OP_LeakyRelu) {
    const float slope = static_cast<const mslite_LeakyRelu *>(node.params)->negative_slope;
    plan->Give(plan->Layer(NNAPI_PRELU, {plan->Input(0), plan->Number(slope)}, dims));
    return "";
  }
  const int64_t count = CountIn(*node.inputs[1]);
  const bool is_per_channel = count == 1 || count == dims.back();
  const NnapiValue slope = is_per_channel ? plan->Reshaped(plan->Input(1), {count}) : plan->Input(1);
  plan->Give(plan->Layer(NNAPI_PRELU, {plan->Input(0), slope}, dims));
  return "";
}

std::string PlanClip(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_Clip *>(node.params);
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (node.input_count > 3) return "too many inputs";
  const std::vector<int64_t> dims = ResultDims(*plan);
  NnapiValue y = plan->Input(0);
  for (int32_t i = 1; i < 3; ++i) {
    const NnapiCode code = i == 1 ? NNAPI_MAXIMUM : NNAPI_MINIMUM;
    if (i < node.input_count) {
      if (CountIn(*node.inputs[i]) != 1) return "a bound is not a scalar";
      y = plan->Layer(code, {y, plan->Reshaped(plan->Input(i), {1})}, dims);
    } else if (node.input_count == 1) {
      y = plan->Layer(code, {y, plan->Number(i == 1 ? params->min : params->max)}, dims);
    }
  }
  plan->Give(y);
  return "";
}

std::string PlanCast(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t from = node.inputs[0]->type;
  const int32_t to = node.outputs[0]->type;
  if (from == to) {
    if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  } else if (from != MSLITE_INT32 || to != MSLITE_FLOAT32) {
    return "NNAPI does not define the rounding of the cast";
  }
  plan->Give(from == to ? plan->Input(0) : plan->Layer(NNAPI_CAST, {plan->Input(0)}, ResultDims(*plan)));
  return "";
}

std::string PlanAddN(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  NnapiValue sum = plan->Input(0);
  for (int32_t i = 1; i < node.input_count; ++i) {
    sum = plan->Binary(NNAPI_ADD, sum, plan->Input(i), ResultDims(*plan));
  }
  plan->Give(sum);
  return "";
}

std::string PlanEltwise(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  const int32_t mode = static_cast<const mslite_Eltwise *>(node.params)->mode;
  const NnapiCode code = mode == MSLITE_ELTWISE_MODE_PROD  ? NNAPI_MUL
                         : mode == MSLITE_ELTWISE_MODE_SUM ? NNAPI_ADD
                                                           : NNAPI_MAXIMUM;
  plan->Give(plan->Binary(code, plan->Input(0), plan->Input(1), ResultDims(*plan)));
  return "";
}

std::string PlanScale(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ScaleFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = mslite_normalize_axis(params->axis, x.rank);
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (axis < 0 || node.input_count < 2 || node.input_count > 3 || !IsNnapiActivation(params->activation_type)) {
    return "unsupported parameters";
  }
  const std::vector<int64_t> dims = ResultDims(*plan);
  NnapiValue y = plan->Input(0);
  for (int32_t i = 1; i < node.input_count; ++i) {
    std::vector<int64_t> own = NnapiDims(*node.inputs[i]);
    if (node.inputs[i]->rank > x.rank) return "unsupported parameters";
    if (static_cast<int32_t>(own.size()) < x.rank - axis) own.resize(static_cast<size_t>(x.rank - axis), 1);
    y = plan->Binary(i == 1 ? NNAPI_MUL : NNAPI_ADD, y, plan->Reshaped(plan->Input(i), own), dims);
  }
  plan->Give(plan->Activated(y, params->activation_type, dims));
  return "";
}

std::string PlanBatchNorm(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<float> factor;
  std::vector<float> offset;
  if (node.output_count > 1) return "the statistics are outputs";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!FoldBatchNorm(node, &factor, &offset)) return "the statistics are not constant";
  const auto channels = static_cast<int64_t>(factor.size());
  const std::vector<int64_t> dims = ResultDims(*plan);
  const NnapiValue scaled = plan->Binary(NNAPI_MUL, plan->Input(0), plan->Reals({channels}, factor), dims);
  plan->Give(plan->Binary(NNAPI_ADD, scaled, plan->Reals({channels}, offset), dims));
  return "";
}

std::string PlanSelect(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.input_count != 3 || node.inputs[0]->type != MSLITE_BOOL) return "the condition is not bool";
  for (int32_t i = 0; i < 3; ++i) {
    if (NnapiDims(*node.inputs[i]) != ResultDims(*plan)) return "the inputs are broadcast";
    if (i > 0 && node.inputs[i]->type != MSLITE_FLOAT32) return "an input is not float32";
  }
  plan->Give(plan->Layer(NNAPI_SELECT, {plan->Input(0), plan->Input(1), plan->Input(2)}, ResultDims(*plan)));
  return "";
}

// Quantizes and dequantizes.
std::string PlanQuantize(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  const bool is_up = IsStored(x) && y.type == MSLITE_FLOAT32;
  const bool is_down = x.type == MSLITE_FLOAT32 && IsStored(y);
  if (!is_up && !is_down) return "a conversion between quantized types";
  if ((is_up ? x : y).quant_count != 1) return "per-channel scales";
  plan->Give(plan->LayerLike(is_up ? NNAPI_DEQUANTIZE : NNAPI_QUANTIZE, {plan->Input(0)}, y));
  return "";
}

constexpr NnapiOperator kElementwiseOperators[] = {
    {MSLITE_OP_Abs, PlanUnary},
    {MSLITE_OP_Floor, PlanUnary},
    {MSLITE_OP_Log, PlanUnary},
    {MSLITE_OP_Neg, PlanUnary},
    {MSLITE_OP_Rsqrt, PlanUnary},
    {MSLITE_OP_Sin, PlanUnary},
    {MSLITE_OP_Sqrt, PlanUnary},
    {MSLITE_OP_AddFusion, PlanArithmetic, true},
    {MSLITE_OP_BiasAdd, PlanArithmetic},
    {MSLITE_OP_SubFusion, PlanArithmetic, true},
    {MSLITE_OP_MulFusion, PlanArithmetic, true},
    {MSLITE_OP_DivFusion, PlanArithmetic},
    {MSLITE_OP_RealDiv, PlanArithmetic},
    {MSLITE_OP_Maximum, PlanExtremum},
    {MSLITE_OP_Minimum, PlanExtremum},
    {MSLITE_OP_Equal, PlanComparison},
    {MSLITE_OP_NotEqual, PlanComparison},
    {MSLITE_OP_Less, PlanComparison},
    {MSLITE_OP_LessEqual, PlanComparison},
    {MSLITE_OP_Greater, PlanComparison},
    {MSLITE_OP_GreaterEqual, PlanComparison},
    {MSLITE_OP_LogicalAnd, PlanLogical},
    {MSLITE_OP_LogicalOr, PlanLogical},
    {MSLITE_OP_LogicalNot, PlanLogical},
    {MSLITE_OP_Square, PlanComposed},
    {MSLITE_OP_Reciprocal, PlanComposed},
    {MSLITE_OP_Ceil, PlanComposed},
    {MSLITE_OP_Erf, PlanComposed},
    {MSLITE_OP_SquaredDifference, PlanComposed},
    {MSLITE_OP_PowFusion, PlanComposed},
    {MSLITE_OP_ExpFusion, PlanComposed},
    {MSLITE_OP_Activation, PlanActivation, true},
    {MSLITE_OP_Elu, PlanSlope},
    {MSLITE_OP_LeakyRelu, PlanSlope},
    {MSLITE_OP_PReLUFusion, PlanSlope},
    {MSLITE_OP_Clip, PlanClip},
    {MSLITE_OP_Cast, PlanCast},
    {MSLITE_OP_AddN, PlanAddN},
    {MSLITE_OP_Eltwise, PlanEltwise},
    {MSLITE_OP_ScaleFusion, PlanScale},
    {MSLITE_OP_BatchNorm, PlanBatchNorm},
    {MSLITE_OP_FusedBatchNorm, PlanBatchNorm},
    {MSLITE_OP_Select, PlanSelect},
    {MSLITE_OP_Where, PlanSelect},
    {MSLITE_OP_QuantDTypeCast, PlanQuantize, true},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiElementwise() { return kElementwiseOperators; }
}  // namespace mslite
