// Element-wise operators of one to three inputs with broadcasting.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "arithmetic/broadcast.h"
#include "engine/attributes.h"
#include "opencl/operators/families.h"

namespace mslite {
namespace {
struct Operand {
  OpenClOperand memory;
  const mslite_tensor *tensor;
};

std::string Number(double value) {
  char text[40];
  if (std::isinf(value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  std::snprintf(text, sizeof text, "(%.9gf)", value);
  std::string number = text;  // "(1f)" is not a valid literal
  if (number.find_first_of(".en") == std::string::npos) number.insert(number.size() - 2, ".0");
  return number;
}

bool IsReal(const mslite_tensor &tensor) { return tensor.type == MSLITE_FLOAT32; }

// Returns the period (see OpenClFormula) of an operand with `own` elements, for an output with `count` elements.
int64_t PeriodOf(const mslite_broadcast_plan &broadcast, size_t operand, int64_t own, int64_t count) {
  if (own == count) return 0;
  if (own == 1) return 1;
  // The operand repeats if it consists of the last dimensions of the output only.
  int64_t walked = 1;
  for (int32_t i = broadcast.rank - 1; i >= 0; --i) {
    if (broadcast.dims[i] != 1 && broadcast.strides[operand][i] != (walked < own ? walked : 0)) return -1;
    walked *= broadcast.dims[i];
  }
  return own;
}

// Adds a launch that computes y as an expression of the operands a, b and c.
OpenClLaunch &Elementwise(OpenClPlan *plan, const std::vector<Operand> &operands, const std::string &expression) {
  const mslite_tensor &y = *plan->node().outputs[0];
  const int64_t count = CountOf(y);
  mslite_broadcast_plan broadcast;
  mslite_schedule schedule;
  std::vector<const mslite_tensor *> tensors;
  tensors.reserve(operands.size());
  for (const Operand &operand : operands) tensors.push_back(operand.tensor);
  mslite_plan_broadcast(&y, tensors.data(), static_cast<int32_t>(tensors.size()), &broadcast, &schedule);
  std::vector<int64_t> shape(broadcast.dims, broadcast.dims + broadcast.rank);
  bool is_fours = IsReal(y) && count % 4 == 0;
  std::vector<int64_t> periods;
  for (size_t i = 0; i < operands.size(); ++i) {
    shape.insert(shape.end(), broadcast.strides[i], broadcast.strides[i] + broadcast.rank);
    const int64_t period = PeriodOf(broadcast, i, CountOf(*operands[i].tensor), count);
    periods.push_back(period);
    is_fours = is_fours && IsReal(*operands[i].tensor) && (period == 1 || (period >= 0 && period % 4 == 0));
  }
  const auto is_walked = [](int64_t period) { return period != 0 && period != 1; };
  const OpenClOperand numbers = is_fours ? OpenClOperand() : plan->Integers(shape);
  OpenClLaunch &launch = plan->Launch("elementwise", is_fours ? "elementwise_fours" : "elementwise");
  const auto access = [](bool in_fours) { return in_fours ? OpenClAccessPattern::Fours() : OpenClAccessPattern(); };
  constexpr const char *kNames[] = {"x_a", "x_b", "x_c"};
  constexpr const char *kWalks[] = {"WALK_A", "WALK_B", "WALK_C"};
  for (size_t i = 0; i < operands.size(); ++i) {
    launch.Define(kWalks[i], is_walked(periods[i]) ? (is_fours ? 3 : 2) : periods[i]);
    launch.Input(kNames[i], operands[i].memory, access(is_fours && periods[i] != 1)).Touches(i, count);
  }
  launch.Define("VALUE", expression).Output("y", plan->Output(), access(is_fours));
  launch.TakesEpilogue(is_fours);
  launch.formula = {expression, "", periods};
  if (is_fours) {
    for (size_t i = 0; i < std::size(kWalks); ++i) launch.Integer(i < periods.size() ? periods[i] : 0);
    return launch.Define("FOURS", 1).Integer(count / 4).Items(count / 4);
  }
  const bool is_read = std::any_of(periods.begin(), periods.end(), is_walked);
  launch.Buffer(numbers).Touches(operands.size() + 1, is_read ? static_cast<int64_t>(shape.size()) * count : 0);
  return launch.Integer(broadcast.rank).Integer(count).Items(count);
}

std::vector<Operand> InputsOf(const OpenClPlan &plan, int32_t count) {
  std::vector<Operand> operands;
  operands.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) operands.push_back({plan.Input(i), plan.node().inputs[i]});
  return operands;
}

// ---- unary operators ----

struct Function {
  int32_t op;
  const char *expression;
  bool takes_integers;
};

constexpr Function kUnary[] = {
    {MSLITE_OP_Abs, "fabs(a)", false},
    {MSLITE_OP_Acos, "acos(a)", false},
    {MSLITE_OP_Acosh, "acosh(a)", false},
    {MSLITE_OP_Asin, "asin(a)", false},
    {MSLITE_OP_Asinh, "asinh(a)", false},
    {MSLITE_OP_Atan, "atan(a)", false},
    {MSLITE_OP_Atanh, "atanh(a)", false},
    {MSLITE_OP_Ceil, "ceil(a)", false},
    {MSLITE_OP_Cos, "cos(a)", false},
    {MSLITE_OP_Cosh, "cosh(a)", false},
    {MSLITE_OP_Erf, "erf(a)", false},
    {MSLITE_OP_Floor, "floor(a)", false},
    {MSLITE_OP_Log, "log(a)", false},
    {MSLITE_OP_Log1p, "log1p(a)", false},
    {MSLITE_OP_Neg, "-a", true},
    {MSLITE_OP_Reciprocal, "1.0f/a", false},
    {MSLITE_OP_Round, "rint(a)", false},
    {MSLITE_OP_Rsqrt, "1.0f/sqrt(a)", false},
    {MSLITE_OP_Sign, "(isnan(a)?a:sign(a))", false},
    {MSLITE_OP_Sin, "sin(a)", false},
    {MSLITE_OP_Sinh, "sinh(a)", false},
    {MSLITE_OP_Sqrt, "sqrt(a)", false},
    {MSLITE_OP_Square, "a*a", true},
    {MSLITE_OP_Tan, "tan(a)", false},
    {MSLITE_OP_Mish, "a*tanh(softplus(a))", false},
};

const Function *FindFunction(const Function *begin, const Function *end, int32_t op) {
  for (const Function *function = begin; function != end; ++function) {
    if (function->op == op) return function;
  }
  return nullptr;
}
const Function *UnaryOf(int32_t op) { return FindFunction(std::begin(kUnary), std::end(kUnary), op); }

bool IsWhole(int32_t type) { return type == MSLITE_INT32 || type == MSLITE_INT64; }

std::string WhyNotUnary(const mslite_node &node) {
  const int32_t type = node.inputs[0]->type;
  if (type == node.outputs[0]->type &&
      (type == MSLITE_FLOAT32 || (UnaryOf(node.op)->takes_integers && IsWhole(type)))) {
    return "";
  }
  return "the kernel does not support the data type";
}

void PlanUnary(OpenClPlan *plan) { Elementwise(plan, InputsOf(*plan, 1), UnaryOf(plan->node().op)->expression); }

void PlanLogicalNot(OpenClPlan *plan) { Elementwise(plan, InputsOf(*plan, 1), "!a"); }

std::string WhyNotLogical(const mslite_node &node) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != MSLITE_BOOL) return "an input is not bool";
  }
  return node.outputs[0]->type == MSLITE_BOOL ? "" : "the output is not bool";
}

std::string WhyNotOneReal(const mslite_node &node) {
  return IsReal(*node.inputs[0]) && IsReal(*node.outputs[0]) ? "" : "an input is not float32";
}

bool IsActivation(int32_t type) {
  return type >= MSLITE_ACTIVATION_TYPE_NO_ACTIVATION && type <= MSLITE_ACTIVATION_TYPE_FAST_GELU;
}

std::string WhyNotActivation(const mslite_node &node) {
  const auto *params = static_cast<const mslite_Activation *>(node.params);
  return IsActivation(params->activation_type) ? WhyNotOneReal(node) : "unsupported activation";
}

void PlanActivation(OpenClPlan *plan) {
  const auto *params = static_cast<const mslite_Activation *>(plan->node().params);
  int32_t type = params->activation_type;
  if (type == MSLITE_ACTIVATION_TYPE_GELU && params->approximate) type = MSLITE_ACTIVATION_TYPE_FAST_GELU;
  Elementwise(plan, InputsOf(*plan, 1), "activate(a)")
      .Activate(type, Number(params->alpha), Number(params->min_val), Number(params->max_val));
}

void PlanFunctionWithNumbers(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  std::string expression;
  switch (node.op) {
    case MSLITE_OP_LeakyRelu:
      expression = "a<0.0f?" + Number(static_cast<const mslite_LeakyRelu *>(node.params)->negative_slope) + "*a:a";
      break;
    case MSLITE_OP_Elu:
      expression = "a<0.0f?" + Number(static_cast<const mslite_Elu *>(node.params)->alpha) + "*expm1(a):a";
      break;
    case MSLITE_OP_HardSigmoid: {
      const auto *params = static_cast<const mslite_HardSigmoid *>(node.params);
      expression = "clamp(" + Number(params->alpha) + "*a+" + Number(params->beta) + ",0.0f,1.0f)";
      break;
    }
    default: {
      const auto *params = static_cast<const mslite_ExpFusion *>(node.params);
      const std::string exponent = Number(params->scale) + "*a+" + Number(params->shift);
      expression = params->base == -1 ? "exp(" + exponent + ")" : "pow(" + Number(params->base) + "," + exponent + ")";
    }
  }
  Elementwise(plan, InputsOf(*plan, 1), expression);
}

// ---- Clip, with bounds as inputs or attributes ----

std::string WhyNotClip(const mslite_node &node) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (!IsReal(*node.inputs[i])) return "an input is not float32";
    if (i > 0 && CountOf(*node.inputs[i]) != 1) return "a bound is not a scalar";
  }
  return node.input_count <= 3 ? "" : "too many inputs";
}

void PlanClip(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_Clip *>(node.params);
  std::string expression = "a";
  if (node.input_count > 2) {
    expression = "(a<b?(b>c?c:b):a>c?c:a)";
  } else if (node.input_count > 1) {
    expression = "(a<b?b:a)";
  } else {
    const std::string low = Number(params->min);
    const std::string high = Number(params->max);
    expression = params->min > params->max ? high : "(a<" + low + "?" + low + ":a>" + high + "?" + high + ":a)";
  }
  Elementwise(plan, InputsOf(*plan, node.input_count), expression);
}

// ---- Cast ----

std::string WhyNotCast(const mslite_node &node) {
  const bool from = IsReal(*node.inputs[0]) || IsWhole(node.inputs[0]->type) || node.inputs[0]->type == MSLITE_BOOL;
  const bool to = IsReal(*node.outputs[0]) || IsWhole(node.outputs[0]->type) || node.outputs[0]->type == MSLITE_BOOL;
  return from && to ? "" : "a cast between types other than float32, int32, int64 and bool";
}

void PlanCast(OpenClPlan *plan) {
  const int32_t type = plan->node().outputs[0]->type;
  const std::string expression = type == MSLITE_BOOL ? "(a!=0)" : "(" + std::string(OpenClType(type)) + ")a";
  // Only the first input is an operand; the second one is the code of the data type.
  Elementwise(plan, InputsOf(*plan, 1), expression);
}

// ---- binary operators ----

constexpr Function kBinary[] = {
    {MSLITE_OP_AddFusion, "a+b", true},
    {MSLITE_OP_BiasAdd, "a+b", false},
    {MSLITE_OP_SubFusion, "a-b", true},
    {MSLITE_OP_MulFusion, "a*b", true},
    {MSLITE_OP_DivFusion, "a/b", false},
    {MSLITE_OP_RealDiv, "a/b", false},
    {MSLITE_OP_FloorDiv, "floor(a/b)", false},
    {MSLITE_OP_FloorMod, "(fmod(a,b)!=0.0f&&(fmod(a,b)<0.0f)!=(b<0.0f)?fmod(a,b)+b:fmod(a,b))", false},
    {MSLITE_OP_Mod, "fmod(a,b)", false},
    {MSLITE_OP_SquaredDifference, "(a-b)*(a-b)", true},
    {MSLITE_OP_Atan2, "atan2(a,b)", false},
};
// For all data types. NaN inputs give NaN.
constexpr Function kExtremes[] = {
    {MSLITE_OP_Maximum, "(a>b||a!=a?a:b)", true},
    {MSLITE_OP_Minimum, "(a<b||a!=a?a:b)", true},
};
constexpr Function kComparisons[] = {
    {MSLITE_OP_Equal, "(a==b)", true},  {MSLITE_OP_NotEqual, "(a!=b)", true},
    {MSLITE_OP_Less, "(a<b)", true},    {MSLITE_OP_LessEqual, "(a<=b)", true},
    {MSLITE_OP_Greater, "(a>b)", true}, {MSLITE_OP_GreaterEqual, "(a>=b)", true},
};
constexpr Function kLogical[] = {
    {MSLITE_OP_LogicalAnd, "(a&&b)", true},
    {MSLITE_OP_LogicalOr, "(a||b)", true},
    {MSLITE_OP_LogicalXor, "(!a!=!b)", true},
};

const Function *BinaryOf(int32_t op) {
  if (const Function *found = FindFunction(std::begin(kBinary), std::end(kBinary), op); found != nullptr) return found;
  if (const Function *found = FindFunction(std::begin(kExtremes), std::end(kExtremes), op); found != nullptr)
    return found;
  if (const Function *found = FindFunction(std::begin(kComparisons), std::end(kComparisons), op); found != nullptr) {
    return found;
  }
  return FindFunction(std::begin(kLogical), std::end(kLogical), op);
}

std::string WhyNotBinary(const mslite_node &node) {
  const int32_t type = node.inputs[0]->type;
  if (node.input_count < 2 || node.inputs[1]->type != type) return "the inputs have different data types";
  if (!IsActivation(FusedActivation(node))) return "unsupported activation";
  if (type == MSLITE_FLOAT32) return "";
  const bool is_taken = BinaryOf(node.op)->takes_integers && IsWhole(type) && FusedActivation(node) == 0;
  return is_taken ? "" : "the kernel does not support the data type";
}

std::string WhyNotSameBinary(const mslite_node &node) {
  return node.outputs[0]->type == node.inputs[0]->type ? WhyNotBinary(node)
                                                       : "the output has another data type than the input";
}

void PlanBinary(OpenClPlan *plan) {
  const int32_t activation = FusedActivation(plan->node());
  const std::string expression = BinaryOf(plan->node().op)->expression;
  if (activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION) {
    Elementwise(plan, InputsOf(*plan, 2), expression);
  } else {
    Elementwise(plan, InputsOf(*plan, 2), "activate(" + expression + ")").Activate(activation);
  }
}

std::string WhyNotPower(const mslite_node &node) {
  return IsReal(*node.inputs[0]) && (IsReal(*node.inputs[1]) || IsWhole(node.inputs[1]->type)) ? ""
                                                                                               : "a power of integers";
}

void PlanPower(OpenClPlan *plan) {
  const auto *params = static_cast<const mslite_PowFusion *>(plan->node().params);
  std::string base = "a";
  if (params->scale != 1 || params->shift != 0) base = Number(params->scale) + "*a+" + Number(params->shift);
  Elementwise(plan, InputsOf(*plan, 2), "pow(" + base + ",(float)b)");
}

std::string WhyNotEltwise(const mslite_node &node) {
  return node.input_count == 2 ? WhyNotReal(node) : "the number of inputs is not 2";
}

void PlanEltwise(OpenClPlan *plan) {
  const auto *params = static_cast<const mslite_Eltwise *>(plan->node().params);
  const char *expression = params->mode == MSLITE_ELTWISE_MODE_PROD  ? "a*b"
                           : params->mode == MSLITE_ELTWISE_MODE_SUM ? "a+b"
                                                                     : "(a>b||a!=a?a:b)";
  Elementwise(plan, InputsOf(*plan, 2), expression);
}

void PlanAddN(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.input_count == 1) {
    Elementwise(plan, InputsOf(*plan, 1), "a");
    return;
  }
  Elementwise(plan, InputsOf(*plan, 2), "a+b");
  for (int32_t i = 2; i < node.input_count; ++i) {
    Elementwise(plan, {{plan->Output(), node.outputs[0]}, {plan->Input(i), node.inputs[i]}}, "a+b");
  }
}

// ---- PReLU, Scale, batch normalization: operators with a value per channel ----

mslite_tensor Shaped(std::vector<int64_t> dims, int32_t type = MSLITE_FLOAT32) {
  mslite_tensor tensor = {};
  tensor.type = type;
  tensor.rank = static_cast<int32_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) tensor.dims[i] = dims[i];
  return tensor;
}

void PlanPRelu(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const int64_t count = CountOf(*node.inputs[1]);
  const bool is_per_channel = x.rank > 0 && (count == 1 || count == x.dims[x.rank - 1]);
  const mslite_tensor slope = is_per_channel ? Shaped({count}) : *node.inputs[1];
  Elementwise(plan, {{plan->Input(0), &x}, {plan->Input(1), &slope}}, "(a<0.0f?b*a:a)");
}

std::string WhyNotScale(const mslite_node &node) {
  const auto *params = static_cast<const mslite_ScaleFusion *>(node.params);
  if (node.input_count < 2 || node.input_count > 3 || !IsActivation(params->activation_type))
    return "unsupported parameters";
  return WhyNotReal(node);
}

void PlanScale(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ScaleFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  const int32_t axis = mslite_normalize_axis(params->axis, x.rank);
  std::vector<mslite_tensor> shapes;
  for (int32_t i = 1; i < node.input_count; ++i) {
    const mslite_tensor &operand = *node.inputs[i];
    std::vector<int64_t> dims(operand.dims, operand.dims + operand.rank);
    dims.resize(static_cast<size_t>(std::max(x.rank - axis, operand.rank)), 1);
    shapes.push_back(Shaped(dims));
  }
  std::vector<Operand> operands = {{plan->Input(0), &x}};
  for (size_t i = 0; i < shapes.size(); ++i) operands.push_back({plan->Input(static_cast<int32_t>(i) + 1), &shapes[i]});
  Elementwise(plan, operands, shapes.size() == 2 ? "activate(a*b+c)" : "activate(a*b)")
      .Activate(params->activation_type);
}

std::string WhyNotBatchNorm(const mslite_node &node) {
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (node.inputs[i]->data == nullptr) return "the statistics are not constant";
  }
  if (node.output_count > 1) return "the statistics are outputs";
  return node.input_count == (node.op == MSLITE_OP_BatchNorm ? 3 : 5) ? WhyNotReal(node) : "unsupported parameters";
}

void PlanBatchNorm(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const bool has_scale = node.op == MSLITE_OP_FusedBatchNorm;
  const double epsilon = has_scale ? static_cast<const mslite_FusedBatchNorm *>(node.params)->epsilon
                                   : static_cast<const mslite_BatchNorm *>(node.params)->epsilon;
  const std::vector<float> mean = RealsOf(*node.inputs[has_scale ? 3 : 1]);
  const std::vector<float> variance = RealsOf(*node.inputs[has_scale ? 4 : 2]);
  const std::vector<float> scales = has_scale ? RealsOf(*node.inputs[1]) : std::vector<float>(mean.size(), 1.0f);
  const std::vector<float> shifts = has_scale ? RealsOf(*node.inputs[2]) : std::vector<float>(mean.size(), 0.0f);
  std::vector<float> factor(mean.size());
  std::vector<float> offset(mean.size());
  for (size_t i = 0; i < mean.size(); ++i) {
    const double exact = static_cast<double>(scales[i]) / std::sqrt(static_cast<double>(variance[i]) + epsilon);
    factor[i] = static_cast<float>(exact);
    offset[i] = static_cast<float>(shifts[i] - exact * mean[i]);
  }
  const auto channels = static_cast<int64_t>(mean.size());
  const mslite_tensor shape = Shaped({channels});
  const OpenClOperand factors = plan->Weights(factor, channels);
  const OpenClOperand offsets = plan->Weights(offset, channels);
  Elementwise(plan, {{plan->Input(0), node.inputs[0]}, {factors, &shape}, {offsets, &shape}}, "a*b+c");
}

// ---- selection ----

std::string WhyNotSelect(const mslite_node &node) {
  if (node.input_count != 3) return "the number of inputs is not 3";
  if (node.inputs[0]->type != MSLITE_BOOL) return "the condition is not bool";
  return node.inputs[1]->type == node.inputs[2]->type ? "" : "the values have different data types";
}

void PlanSelect(OpenClPlan *plan) { Elementwise(plan, InputsOf(*plan, 3), "(a?b:c)"); }

constexpr OpenClOperator kElementwiseOperators[] = {
    {MSLITE_OP_Abs, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Acos, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Acosh, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Asin, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Asinh, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Atan, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Atanh, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Ceil, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Cos, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Cosh, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Erf, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Floor, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Log, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Log1p, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Neg, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Reciprocal, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Round, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Rsqrt, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Sign, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Sin, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Sinh, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Sqrt, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Square, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Tan, WhyNotUnary, PlanUnary},
    {MSLITE_OP_Mish, WhyNotUnary, PlanUnary},
    {MSLITE_OP_LogicalNot, WhyNotLogical, PlanLogicalNot},
    {MSLITE_OP_Activation, WhyNotActivation, PlanActivation},
    {MSLITE_OP_LeakyRelu, WhyNotOneReal, PlanFunctionWithNumbers},
    {MSLITE_OP_Elu, WhyNotOneReal, PlanFunctionWithNumbers},
    {MSLITE_OP_HardSigmoid, WhyNotOneReal, PlanFunctionWithNumbers},
    {MSLITE_OP_ExpFusion, WhyNotOneReal, PlanFunctionWithNumbers},
    {MSLITE_OP_Clip, WhyNotClip, PlanClip},
    {MSLITE_OP_Cast, WhyNotCast, PlanCast},
    {MSLITE_OP_AddFusion, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_BiasAdd, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_SubFusion, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_MulFusion, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_DivFusion, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_RealDiv, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_FloorDiv, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_FloorMod, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_Mod, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_SquaredDifference, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_Atan2, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_Maximum, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_Minimum, WhyNotSameBinary, PlanBinary},
    {MSLITE_OP_Equal, WhyNotBinary, PlanBinary},
    {MSLITE_OP_NotEqual, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Less, WhyNotBinary, PlanBinary},
    {MSLITE_OP_LessEqual, WhyNotBinary, PlanBinary},
    {MSLITE_OP_Greater, WhyNotBinary, PlanBinary},
    {MSLITE_OP_GreaterEqual, WhyNotBinary, PlanBinary},
    {MSLITE_OP_LogicalAnd, WhyNotLogical, PlanBinary},
    {MSLITE_OP_LogicalOr, WhyNotLogical, PlanBinary},
    {MSLITE_OP_LogicalXor, WhyNotLogical, PlanBinary},
    {MSLITE_OP_PowFusion, WhyNotPower, PlanPower},
    {MSLITE_OP_Eltwise, WhyNotEltwise, PlanEltwise},
    {MSLITE_OP_AddN, WhyNotReal, PlanAddN},
    {MSLITE_OP_PReLUFusion, WhyNotReal, PlanPRelu},
    {MSLITE_OP_ScaleFusion, WhyNotScale, PlanScale},
    {MSLITE_OP_BatchNorm, WhyNotBatchNorm, PlanBatchNorm},
    {MSLITE_OP_FusedBatchNorm, WhyNotBatchNorm, PlanBatchNorm},
    {MSLITE_OP_Select, WhyNotSelect, PlanSelect},
    {MSLITE_OP_Where, WhyNotSelect, PlanSelect},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClElementwise() { return kElementwiseOperators; }
}  // namespace mslite
