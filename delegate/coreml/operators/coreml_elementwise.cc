// Element-wise operators with broadcasting.
#include "coreml/operators/families.h"

namespace mslite {
namespace {
enum Unary : int64_t { kSqrt = 0, kRsqrt = 1, kInverse = 2, kPower = 3, kExp = 4, kLog = 5, kAbs = 6 };

std::string Function(CoreMlPlan *plan, const std::string &x, Unary type, float alpha = 1) {
  // f(scale * x + shift), without the epsilon of some functions.
  ProtoMessage message;
  message.Whole(1, type).Real(2, alpha).Real(3, 0).Real(4, 0).Real(5, 1);
  return plan->Layer(COREML_UNARY, {x}, message);
}

std::string PlanUnary(CoreMlPlan *plan) {
  const std::string x = plan->Alike(1)[0];
  switch (plan->node().op) {
    case MSLITE_OP_Abs:
      plan->GiveAlike(Function(plan, x, kAbs));
      return "";
    case MSLITE_OP_Sqrt:
      plan->GiveAlike(Function(plan, x, kSqrt));
      return "";
    case MSLITE_OP_Rsqrt:
      plan->GiveAlike(Function(plan, x, kRsqrt));
      return "";
    case MSLITE_OP_Reciprocal:
      plan->GiveAlike(Function(plan, x, kInverse));
      return "";
    case MSLITE_OP_Log:
      plan->GiveAlike(Function(plan, x, kLog));
      return "";
    case MSLITE_OP_Square:
      plan->GiveAlike(plan->Layer(COREML_MULTIPLY, {x, x}));
      return "";
    case MSLITE_OP_Neg:
      plan->GiveAlike(plan->Layer(COREML_MULTIPLY, {x, plan->Number(-1)}));
      return "";
    case MSLITE_OP_Ceil:
      plan->GiveAlike(plan->Layer(COREML_CEIL, {x}));
      return "";
    case MSLITE_OP_Floor:
      plan->GiveAlike(plan->Layer(COREML_FLOOR, {x}));
      return "";
    case MSLITE_OP_Sin:
      plan->GiveAlike(plan->Layer(COREML_SIN, {x}));
      return "";
    case MSLITE_OP_Cos:
      plan->GiveAlike(plan->Layer(COREML_COS, {x}));
      return "";
    case MSLITE_OP_Erf:
      plan->GiveAlike(plan->Layer(COREML_ERF, {x}));
      return "";
    default: {  // ExpFusion
      const auto *params = static_cast<const mslite_ExpFusion *>(plan->node().params);
      if (params->base != -1 || params->scale != 1 || params->shift != 0)
        return "unsupported parameters of the exponential";
      plan->GiveAlike(Function(plan, x, kExp));
      return "";
    }
  }
}

struct BinaryLayer {
  int32_t op;
  CoreMlLayer type;
};

constexpr BinaryLayer kBinary[] = {
    {MSLITE_OP_AddFusion, COREML_ADD},      {MSLITE_OP_BiasAdd, COREML_ADD},
    {MSLITE_OP_SubFusion, COREML_SUBTRACT}, {MSLITE_OP_MulFusion, COREML_MULTIPLY},
    {MSLITE_OP_DivFusion, COREML_DIVIDE},   {MSLITE_OP_RealDiv, COREML_DIVIDE},
    {MSLITE_OP_Maximum, COREML_MAX},        {MSLITE_OP_Minimum, COREML_MIN},
    {MSLITE_OP_PowFusion, COREML_POW},
};

std::string PlanBinary(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (node.input_count != 2) return "the number of inputs is not 2";
  const int32_t activation = FusedActivation(node);
  if (!IsCoreMlActivation(activation)) return "Core ML does not support the activation";
  if (node.op == MSLITE_OP_PowFusion) {
    const auto *params = static_cast<const mslite_PowFusion *>(node.params);
    if (params->scale != 1 || params->shift != 0) return "unsupported parameters of the power";
  }
  const BinaryLayer *entry = kBinary;
  while (entry->op != node.op) ++entry;
  plan->GiveAlike(plan->Activated(plan->Layer(entry->type, plan->Alike(2)), activation));
  return "";
}

std::string PlanActivation(CoreMlPlan *plan) {
  const auto *params = static_cast<const mslite_Activation *>(plan->node().params);
  enum { kLeakyRelu = 15, kElu = 50 };
  const auto with_alpha = [&](int32_t field) {
    plan->GiveAlike(plan->Layer(COREML_ACTIVATION, plan->Alike(1),
                                ProtoMessage().Part(field, ProtoMessage().Real(1, params->alpha))));
    return std::string();
  };
  if (params->activation_type == MSLITE_ACTIVATION_TYPE_LEAKY_RELU) return with_alpha(kLeakyRelu);
  if (params->activation_type == MSLITE_ACTIVATION_TYPE_ELU) return with_alpha(kElu);
  const bool is_fast = params->activation_type == MSLITE_ACTIVATION_TYPE_GELU && params->approximate;
  const int32_t activation = is_fast ? int32_t{MSLITE_ACTIVATION_TYPE_FAST_GELU} : params->activation_type;
  if (!IsCoreMlActivation(activation)) return "Core ML does not support the activation";
  plan->GiveAlike(plan->Activated(plan->Alike(1)[0], activation));
  return "";
}

std::string PlanBatchNorm(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<float> factor;
  std::vector<float> offset;
  if (node.output_count > 1) return "the statistics are outputs";
  if (!FoldBatchNorm(node, &factor, &offset)) return "the statistics are not constant";
  const std::vector<int64_t> dims = {static_cast<int64_t>(factor.size())};
  const std::string scaled =
      plan->Layer(COREML_MULTIPLY, {plan->Input(0), plan->Constant(dims, factor.data(), factor.size())});
  plan->Give(plan->Layer(COREML_ADD, {scaled, plan->Constant(dims, offset.data(), offset.size())}));
  return "";
}

constexpr CoreMlOperator kElementwiseOperators[] = {
    {MSLITE_OP_Abs, PlanUnary},
    {MSLITE_OP_Sqrt, PlanUnary},
    {MSLITE_OP_Rsqrt, PlanUnary},
    {MSLITE_OP_Reciprocal, PlanUnary},
    {MSLITE_OP_Log, PlanUnary},
    {MSLITE_OP_Square, PlanUnary},
    {MSLITE_OP_Neg, PlanUnary},
    {MSLITE_OP_Ceil, PlanUnary},
    {MSLITE_OP_Floor, PlanUnary},
    {MSLITE_OP_Sin, PlanUnary},
    {MSLITE_OP_Cos, PlanUnary},
    {MSLITE_OP_Erf, PlanUnary},
    {MSLITE_OP_ExpFusion, PlanUnary},
    {MSLITE_OP_AddFusion, PlanBinary},
    {MSLITE_OP_BiasAdd, PlanBinary},
    {MSLITE_OP_SubFusion, PlanBinary},
    {MSLITE_OP_MulFusion, PlanBinary},
    {MSLITE_OP_DivFusion, PlanBinary},
    {MSLITE_OP_RealDiv, PlanBinary},
    {MSLITE_OP_Maximum, PlanBinary},
    {MSLITE_OP_Minimum, PlanBinary},
    {MSLITE_OP_PowFusion, PlanBinary},
    {MSLITE_OP_Activation, PlanActivation},
    {MSLITE_OP_BatchNorm, PlanBatchNorm},
    {MSLITE_OP_FusedBatchNorm, PlanBatchNorm},
    {0, nullptr},
};
}  // namespace

const CoreMlOperator *CoreMlElementwise() { return kElementwiseOperators; }
}  // namespace mslite
