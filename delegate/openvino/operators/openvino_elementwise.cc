// Element-wise operators with broadcasting.
#include <cmath>

#include "openvino/operators/families.h"

namespace mslite {
namespace {
bool IsFloat(const mslite_tensor &tensor) { return tensor.type == MSLITE_FLOAT32; }

// The operands of an element-wise node, all in one layout: NCHW if an input already has it.
class Operands {
 public:
  // The first `count` inputs.
  Operands(OpenVinoPlan *plan, int32_t count) : plan_(plan) {
    const mslite_node &node = plan->node();
    for (int32_t i = 0; i < count; ++i) in_front_ = in_front_ || (node.outputs[0]->rank == 4 && plan->HasImage(i));
    for (int32_t i = 0; i < count; ++i) {
      values_.push_back(in_front_ ? InFront(i) : plan->Input(i));
    }
  }

  OpenVinoValue operator[](size_t index) const { return values_[index]; }
  // Converts a broadcast operand with the shape `dims` in the model's layout to the layout of the others.
  OpenVinoValue Aligned(OpenVinoValue value, OpenVinoIr::Dims dims) const {
    if (!in_front_) return value;
    dims.insert(dims.begin(), 4 - dims.size(), 1);
    return plan_->Transposed(plan_->Reshaped(value, dims), {0, 3, 1, 2});
  }
  void Give(OpenVinoValue value) const {
    if (in_front_) {
      plan_->GiveImage(value);
    } else {
      plan_->Give(value);
    }
  }

 private:
  OpenVinoValue InFront(int32_t index) {
    const mslite_tensor &operand = *plan_->node().inputs[index];
    return operand.rank == 4 ? plan_->Image(index) : Aligned(plan_->Input(index), DimsOf(operand));
  }

  OpenVinoPlan *plan_;
  bool in_front_ = false;
  std::vector<OpenVinoValue> values_;
};

struct Function {
  int32_t op;
  const char *layer;
  const char *opset;
};

const Function *FindFunction(const Function *begin, const Function *end, int32_t op) {
  for (const Function *function = begin; function != end; ++function) {
    if (function->op == op) return function;
  }
  return nullptr;
}

// ---- unary operators ----

constexpr Function kUnary[] = {
    {MSLITE_OP_Abs, "Abs", "opset1"},     {MSLITE_OP_Acos, "Acos", "opset1"},    {MSLITE_OP_Acosh, "Acosh", "opset4"},
    {MSLITE_OP_Asin, "Asin", "opset1"},   {MSLITE_OP_Asinh, "Asinh", "opset4"},  {MSLITE_OP_Atan, "Atan", "opset1"},
    {MSLITE_OP_Atanh, "Atanh", "opset4"}, {MSLITE_OP_Ceil, "Ceiling", "opset1"}, {MSLITE_OP_Cos, "Cos", "opset1"},
    {MSLITE_OP_Cosh, "Cosh", "opset1"},   {MSLITE_OP_Erf, "Erf", "opset1"},      {MSLITE_OP_Floor, "Floor", "opset1"},
    {MSLITE_OP_Log, "Log", "opset1"},     {MSLITE_OP_Mish, "Mish", "opset4"},    {MSLITE_OP_Neg, "Negative", "opset1"},
    {MSLITE_OP_Sign, "Sign", "opset1"},   {MSLITE_OP_Sin, "Sin", "opset1"},      {MSLITE_OP_Sinh, "Sinh", "opset1"},
    {MSLITE_OP_Sqrt, "Sqrt", "opset1"},   {MSLITE_OP_Tan, "Tan", "opset1"},
};

void PlanUnary(OpenVinoPlan *plan) {
  const Function *function = FindFunction(std::begin(kUnary), std::end(kUnary), plan->node().op);
  const Operands x(plan, 1);
  x.Give(plan->Layer(function->layer, {x[0]}, {}, function->opset));
}

void PlanComposed(OpenVinoPlan *plan) {
  const Operands x(plan, 1);
  switch (plan->node().op) {
    case MSLITE_OP_Reciprocal:
      return x.Give(plan->Binary("Divide", plan->Real(1), x[0]));
    case MSLITE_OP_Rsqrt:
      return x.Give(plan->Binary("Divide", plan->Real(1), plan->Layer("Sqrt", {x[0]})));
    case MSLITE_OP_Square:
      return x.Give(plan->Binary("Multiply", x[0], x[0]));
    case MSLITE_OP_Log1p:
      return x.Give(plan->Layer("Log", {plan->Binary("Add", x[0], plan->Real(1))}));
    default:  // Round
      return x.Give(plan->Layer("Round", {x[0]}, {{"mode", "half_to_even"}}, "opset5"));
  }
}

std::string WhyNotLogical(const mslite_node &node) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != MSLITE_BOOL) return "an input is not bool";
  }
  return node.outputs[0]->type == MSLITE_BOOL ? "" : "the output is not bool";
}

void PlanLogicalNot(OpenVinoPlan *plan) {
  const Operands x(plan, 1);
  x.Give(plan->Layer("LogicalNot", {x[0]}));
}

bool HasNumbers(int32_t activation) {
  return activation == MSLITE_ACTIVATION_TYPE_ELU || activation == MSLITE_ACTIVATION_TYPE_LEAKY_RELU ||
         activation == MSLITE_ACTIVATION_TYPE_THRESHOLDRELU || activation == MSLITE_ACTIVATION_TYPE_HARD_TANH;
}

std::string WhyNotActivation(const mslite_node &node) {
  const auto *params = static_cast<const mslite_Activation *>(node.params);
  if (!HasNumbers(params->activation_type) && !IsFusedActivation(params->activation_type)) {
    return "OpenVINO does not support the activation";
  }
  if (params->activation_type == MSLITE_ACTIVATION_TYPE_HARD_TANH && params->min_val > params->max_val) {
    return "bounds in the wrong order";
  }
  return CheckFloat32(node);
}

OpenVinoValue LeakyRelu(OpenVinoPlan *plan, OpenVinoValue x, double slope) {
  return plan->Layer("PRelu", {x, plan->Reals({1}, {static_cast<float>(slope)})});
}

void PlanActivation(OpenVinoPlan *plan) {
  const auto *params = static_cast<const mslite_Activation *>(plan->node().params);
  const Operands x(plan, 1);
  switch (params->activation_type) {
    case MSLITE_ACTIVATION_TYPE_ELU:
      return x.Give(plan->Layer("Elu", {x[0]}, {{"alpha", TextOf(params->alpha)}}));
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      return x.Give(LeakyRelu(plan, x[0], params->alpha));
    case MSLITE_ACTIVATION_TYPE_THRESHOLDRELU:
      return x.Give(plan->Selected(plan->Binary("Greater", x[0], plan->Real(params->alpha)), x[0], plan->Real(0)));
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      return x.Give(plan->Layer("Clamp", {x[0]}, {{"min", TextOf(params->min_val)}, {"max", TextOf(params->max_val)}}));
    case MSLITE_ACTIVATION_TYPE_GELU:
      return x.Give(
          plan->Activated(x[0], params->approximate ? MSLITE_ACTIVATION_TYPE_FAST_GELU : MSLITE_ACTIVATION_TYPE_GELU));
    default:
      return x.Give(plan->Activated(x[0], params->activation_type));
  }
}

std::string WhyNotFunctionWithNumbers(const mslite_node &node) {
  if (node.op == MSLITE_OP_ExpFusion) {
    const auto *params = static_cast<const mslite_ExpFusion *>(node.params);
    if (params->base != -1 && !(params->base > 0)) return "a power of a negative base";
  }
  return CheckFloat32(node);
}

void PlanFunctionWithNumbers(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const Operands x(plan, 1);
  switch (node.op) {
    case MSLITE_OP_LeakyRelu:
      return x.Give(LeakyRelu(plan, x[0], static_cast<const mslite_LeakyRelu *>(node.params)->negative_slope));
    case MSLITE_OP_Elu:
      return x.Give(
          plan->Layer("Elu", {x[0]}, {{"alpha", TextOf(static_cast<const mslite_Elu *>(node.params)->alpha)}}));
    case MSLITE_OP_Selu: {
      const auto *params = static_cast<const mslite_Selu *>(node.params);
      return x.Give(plan->Layer("Selu", {x[0], plan->Real(params->alpha), plan->Real(params->gamma)}));
    }
    case MSLITE_OP_HardSigmoid: {
      const auto *params = static_cast<const mslite_HardSigmoid *>(node.params);
      return x.Give(plan->Layer("HardSigmoid", {x[0], plan->Real(params->alpha), plan->Real(params->beta)}));
    }
    default: {
      const auto *params = static_cast<const mslite_ExpFusion *>(node.params);
      const double factor = params->base == -1 ? 1 : std::log(static_cast<double>(params->base));
      OpenVinoValue exponent = x[0];
      if (params->scale != 1 || factor != 1) {
        exponent = plan->Binary("Multiply", exponent, plan->Real(params->scale * factor));
      }
      if (params->shift != 0) exponent = plan->Binary("Add", exponent, plan->Real(params->shift * factor));
      return x.Give(plan->Layer("Exp", {exponent}));
    }
  }
}

// ---- Clip, with bounds as inputs or attributes ----

std::string WhyNotClip(const mslite_node &node) {
  if (node.input_count > 3) return "too many inputs";
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (CountIn(*node.inputs[i]) != 1) return "a bound is not a scalar";
  }
  return CheckFloat32(node);
}

void PlanClip(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_Clip *>(node.params);
  const Operands x(plan, node.input_count);
  OpenVinoValue y = x[0];
  if (node.input_count == 1) {
    y = plan->Binary("Maximum", y, plan->Real(params->min));
    y = plan->Binary("Minimum", y, plan->Real(params->max));
  }
  if (node.input_count > 1) y = plan->Binary("Maximum", y, x[1]);
  if (node.input_count > 2) y = plan->Binary("Minimum", y, x[2]);
  x.Give(y);
}

// ---- Cast ----

// OpenVINO computes int64 as int32. Inputs of int64 are checked to fit.
std::string WhyNotCast(const mslite_node &node) {
  const bool may_not_fit = node.inputs[0]->type == MSLITE_FLOAT32 && node.outputs[0]->type == MSLITE_INT64;
  return may_not_fit ? "a cast from float32 to int64" : "";
}

void PlanCast(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const Operands x(plan, 1);  // the second input is the code of the data type
  const int32_t to = node.outputs[0]->type;
  if (to == node.inputs[0]->type) return x.Give(x[0]);
  if (to == MSLITE_BOOL) return x.Give(plan->Binary("NotEqual", x[0], plan->Number(node.inputs[0]->type, 0)));
  x.Give(plan->Layer("Convert", {x[0]}, {{"destination_type", OpenVinoType(to)}}));
}

// ---- binary operators ----

constexpr Function kBinary[] = {
    {MSLITE_OP_AddFusion, "Add", "opset1"},
    {MSLITE_OP_SubFusion, "Subtract", "opset1"},
    {MSLITE_OP_MulFusion, "Multiply", "opset1"},
    {MSLITE_OP_Maximum, "Maximum", "opset1"},
    {MSLITE_OP_Minimum, "Minimum", "opset1"},
    {MSLITE_OP_BiasAdd, "Add", "opset1"},
    {MSLITE_OP_DivFusion, "Divide", "opset1"},
    {MSLITE_OP_RealDiv, "Divide", "opset1"},
    {MSLITE_OP_FloorDiv, "Divide", "opset1"},
    {MSLITE_OP_FloorMod, "FloorMod", "opset1"},
    {MSLITE_OP_Mod, "Mod", "opset1"},
    {MSLITE_OP_SquaredDifference, "SquaredDifference", "opset1"},
};
// Greater is written as Less with exchanged inputs, because OpenVINO's Greater returns true for NaN.
constexpr Function kComparisons[] = {
    {MSLITE_OP_Equal, "Equal", "opset1"},  {MSLITE_OP_NotEqual, "NotEqual", "opset1"},
    {MSLITE_OP_Less, "Less", "opset1"},    {MSLITE_OP_LessEqual, "LessEqual", "opset1"},
    {MSLITE_OP_Greater, "Less", "opset1"}, {MSLITE_OP_GreaterEqual, "LessEqual", "opset1"},
};
constexpr Function kLogical[] = {
    {MSLITE_OP_LogicalAnd, "LogicalAnd", "opset1"},
    {MSLITE_OP_LogicalOr, "LogicalOr", "opset1"},
    {MSLITE_OP_LogicalXor, "LogicalXor", "opset1"},
};

const Function *BinaryOf(int32_t op) {
  if (const Function *found = FindFunction(std::begin(kBinary), std::end(kBinary), op); found != nullptr) return found;
  if (const Function *found = FindFunction(std::begin(kComparisons), std::end(kComparisons), op); found != nullptr) {
    return found;
  }
  return FindFunction(std::begin(kLogical), std::end(kLogical), op);
}

std::string WhyNotBinary(const mslite_node &node) {
  if (node.input_count != 2) return "the number of inputs is not 2";
  if (!IsFusedActivation(FusedActivation(node))) return "OpenVINO does not support the activation";
  return CheckFloat32(node);
}

std::string WhyNotComparison(const mslite_node &node) {
  for (int32_t i = 0; i < 2; ++i) {
    if (!IsFloat(*node.inputs[i])) return "an input is not float32";
  }
  return "";
}

void PlanBinary(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const Operands x(plan, 2);
  const bool is_turned = node.op == MSLITE_OP_Greater || node.op == MSLITE_OP_GreaterEqual;
  OpenVinoValue y = plan->Binary(BinaryOf(node.op)->layer, x[is_turned ? 1 : 0], x[is_turned ? 0 : 1]);
  if (node.op == MSLITE_OP_FloorDiv) y = plan->Layer("Floor", {y});
  x.Give(plan->Activated(y, FusedActivation(node)));
}

std::string WhyNotPower(const mslite_node &node) {
  return node.input_count != 2 ? "the exponent is missing" : CheckFloat32(node);
}

void PlanPower(OpenVinoPlan *plan) {
  const auto *params = static_cast<const mslite_PowFusion *>(plan->node().params);
  const Operands x(plan, 2);
  OpenVinoValue base = x[0];
  if (params->scale != 1) base = plan->Binary("Multiply", base, plan->Real(params->scale));
  if (params->shift != 0) base = plan->Binary("Add", base, plan->Real(params->shift));
  x.Give(plan->Binary("Power", base, x[1]));
}

void PlanEltwise(OpenVinoPlan *plan) {
  const auto *params = static_cast<const mslite_Eltwise *>(plan->node().params);
  const Operands x(plan, 2);
  x.Give(plan->Binary(params->mode == MSLITE_ELTWISE_MODE_PROD  ? "Multiply"
                      : params->mode == MSLITE_ELTWISE_MODE_SUM ? "Add"
                                                                : "Maximum",
                      x[0], x[1]));
}

void PlanAddN(OpenVinoPlan *plan) {
  const int32_t count = plan->node().input_count;
  const Operands x(plan, count);
  OpenVinoValue sum = x[0];
  for (int32_t i = 1; i < count; ++i) sum = plan->Binary("Add", sum, x[static_cast<size_t>(i)]);
  x.Give(sum);
}

// ---- PReLU, Scale, batch normalization: operators with a value per channel ----

void PlanPRelu(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const Operands operands(plan, 1);
  const int64_t count = CountIn(*node.inputs[1]);
  const bool is_per_channel = x.rank > 0 && (count == 1 || count == x.dims[x.rank - 1]);
  OpenVinoIr::Dims dims = DimsOf(*node.inputs[1]);
  OpenVinoValue slope = plan->Input(1);
  if (is_per_channel) {
    dims = {count};
    slope = plan->Reshaped(slope, dims);
  }
  slope = operands.Aligned(slope, dims);
  // OpenVINO's PRelu only supports a slope per channel in dimension 1.
  const OpenVinoValue is_negative = plan->Binary("Less", operands[0], plan->Real(0));
  operands.Give(plan->Selected(is_negative, plan->Binary("Multiply", operands[0], slope), operands[0]));
}

std::string WhyNotScale(const mslite_node &node) {
  const auto *params = static_cast<const mslite_ScaleFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  if (node.input_count < 2 || node.input_count > 3 || !IsFusedActivation(params->activation_type)) {
    return "unsupported parameters";
  }
  const int32_t axis = mslite_normalize_axis(params->axis, x.rank);
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (axis < 0 || node.inputs[i]->rank > x.rank) return "unsupported parameters";
  }
  return CheckFloat32(node);
}

void PlanScale(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ScaleFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = mslite_normalize_axis(params->axis, x.rank);
  const Operands operands(plan, 1);
  OpenVinoValue y = operands[0];
  for (int32_t i = 1; i < node.input_count; ++i) {
    OpenVinoIr::Dims dims = DimsOf(*node.inputs[i]);
    if (static_cast<int32_t>(dims.size()) < x.rank - axis) dims.resize(static_cast<size_t>(x.rank - axis), 1);
    const OpenVinoValue operand = operands.Aligned(plan->Reshaped(plan->Input(i), dims), dims);
    y = plan->Binary(i == 1 ? "Multiply" : "Add", y, operand);
  }
  operands.Give(plan->Activated(y, params->activation_type));
}

std::string WhyNotBatchNorm(const mslite_node &node) {
  std::vector<float> factor;
  std::vector<float> offset;
  if (node.output_count > 1) return "the statistics are outputs";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  return FoldBatchNorm(node, &factor, &offset) ? "" : "the statistics are not constant";
}

void PlanBatchNorm(OpenVinoPlan *plan) {
  std::vector<float> factor;
  std::vector<float> offset;
  FoldBatchNorm(plan->node(), &factor, &offset);
  const OpenVinoIr::Dims dims = {static_cast<int64_t>(factor.size())};
  const Operands x(plan, 1);
  const OpenVinoValue scaled = plan->Binary("Multiply", x[0], x.Aligned(plan->Reals(dims, factor), dims));
  x.Give(plan->Binary("Add", scaled, x.Aligned(plan->Reals(dims, offset), dims)));
}

// ---- selection ----

std::string WhyNotSelect(const mslite_node &node) {
  if (node.input_count != 3) return "the number of inputs is not 3";
  if (node.inputs[0]->type != MSLITE_BOOL) return "the condition is not bool";
  return IsFloat(*node.inputs[1]) && IsFloat(*node.inputs[2]) ? "" : "an input is not float32";
}

void PlanSelect(OpenVinoPlan *plan) {
  const Operands x(plan, 3);
  x.Give(plan->Selected(x[0], x[1], x[2]));
}

constexpr OpenVinoOperator kElementwiseOperators[] = {
    {MSLITE_OP_Abs, CheckFloat32, PlanUnary},
    {MSLITE_OP_Acos, CheckFloat32, PlanUnary},
    {MSLITE_OP_Acosh, CheckFloat32, PlanUnary},
    {MSLITE_OP_Asin, CheckFloat32, PlanUnary},
    {MSLITE_OP_Asinh, CheckFloat32, PlanUnary},
    {MSLITE_OP_Atan, CheckFloat32, PlanUnary},
    {MSLITE_OP_Atanh, CheckFloat32, PlanUnary},
    {MSLITE_OP_Ceil, CheckFloat32, PlanUnary},
    {MSLITE_OP_Cos, CheckFloat32, PlanUnary},
    {MSLITE_OP_Cosh, CheckFloat32, PlanUnary},
    {MSLITE_OP_Erf, CheckFloat32, PlanUnary},
    {MSLITE_OP_Floor, CheckFloat32, PlanUnary},
    {MSLITE_OP_Log, CheckFloat32, PlanUnary},
    {MSLITE_OP_Mish, CheckFloat32, PlanUnary},
    {MSLITE_OP_Neg, CheckFloat32, PlanUnary},
    {MSLITE_OP_Sign, CheckFloat32, PlanUnary},
    {MSLITE_OP_Sin, CheckFloat32, PlanUnary},
    {MSLITE_OP_Sinh, CheckFloat32, PlanUnary},
    {MSLITE_OP_Sqrt, CheckFloat32, PlanUnary},
    {MSLITE_OP_Tan, CheckFloat32, PlanUnary},
    {MSLITE_OP_Reciprocal, CheckFloat32, PlanComposed},
    {MSLITE_OP_Rsqrt, CheckFloat32, PlanComposed},
    {MSLITE_OP_Square, CheckFloat32, PlanComposed},
    {MSLITE_OP_Log1p, CheckFloat32, PlanComposed},
    {MSLITE_OP_Round, CheckFloat32, PlanComposed},
    {MSLITE_OP_LogicalNot, WhyNotLogical, PlanLogicalNot},
    {MSLITE_OP_Activation, WhyNotActivation, PlanActivation},
    {MSLITE_OP_LeakyRelu, CheckFloat32, PlanFunctionWithNumbers},
    {MSLITE_OP_Elu, CheckFloat32, PlanFunctionWithNumbers},
    {MSLITE_OP_Selu, CheckFloat32, PlanFunctionWithNumbers},
    {MSLITE_OP_HardSigmoid, CheckFloat32, PlanFunctionWithNumbers},
    {MSLITE_OP_ExpFusion, WhyNotFunctionWithNumbers, PlanFunctionWithNumbers},
    {MSLITE_OP_Clip, WhyNotClip, PlanClip},
    {MSLITE_OP_Cast, WhyNotCast, PlanCast},
    {MSLITE_OP_AddFusion, WhyNotBinary, PlanBinary},
    {MSLITE_OP_SubFusion, WhyNotBinary, PlanBinary},
    {MSLITE_OP_MulFusion, WhyNotBinary, PlanBinary},
    {MSLITE_OP_DivFusion, WhyNotBinary, PlanBinary},
    {MSLITE_OP_RealDiv, WhyNotBinary, PlanBinary},
    {MSLITE_OP_FloorDiv, WhyNotBinary, PlanBinary},
    {MSLITE_OP_FloorMod, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Mod, WhyNotBinary, PlanBinary},
    {MSLITE_OP_BiasAdd, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Maximum, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Minimum, WhyNotBinary, PlanBinary},
    {MSLITE_OP_SquaredDifference, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Equal, WhyNotComparison, PlanBinary},
    {MSLITE_OP_NotEqual, WhyNotComparison, PlanBinary},
    {MSLITE_OP_Less, WhyNotComparison, PlanBinary},
    {MSLITE_OP_LessEqual, WhyNotComparison, PlanBinary},
    {MSLITE_OP_Greater, WhyNotComparison, PlanBinary},
    {MSLITE_OP_GreaterEqual, WhyNotComparison, PlanBinary},
    {MSLITE_OP_LogicalAnd, WhyNotLogical, PlanBinary},
    {MSLITE_OP_LogicalOr, WhyNotLogical, PlanBinary},
    {MSLITE_OP_LogicalXor, WhyNotLogical, PlanBinary},
    {MSLITE_OP_PowFusion, WhyNotPower, PlanPower},
    {MSLITE_OP_Eltwise, WhyNotBinary, PlanEltwise},
    {MSLITE_OP_AddN, CheckFloat32, PlanAddN},
    {MSLITE_OP_PReLUFusion, CheckFloat32, PlanPRelu},
    {MSLITE_OP_ScaleFusion, WhyNotScale, PlanScale},
    {MSLITE_OP_BatchNorm, WhyNotBatchNorm, PlanBatchNorm},
    {MSLITE_OP_FusedBatchNorm, WhyNotBatchNorm, PlanBatchNorm},
    {MSLITE_OP_Select, WhyNotSelect, PlanSelect},
    {MSLITE_OP_Where, WhyNotSelect, PlanSelect},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoElementwise() { return kElementwiseOperators; }
}  // namespace mslite
