// Reductions, ArgMax and ArgMin.
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
bool CodeOf(int32_t mode, NnapiCode *code) {
  switch (mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MEAN:
      *code = NNAPI_MEAN;
      return true;
    case MSLITE_REDUCE_MODE_REDUCE_MAX:
      *code = NNAPI_REDUCE_MAX;
      return true;
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
      *code = NNAPI_REDUCE_MIN;
      return true;
    case MSLITE_REDUCE_MODE_REDUCE_PROD:
      *code = NNAPI_REDUCE_PROD;
      return true;
    case MSLITE_REDUCE_MODE_REDUCE_SUM:
    case MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE:
      *code = NNAPI_REDUCE_SUM;
      return true;
    default:
      return false;
  }
}

std::string PlanReduce(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const auto *params = static_cast<const mslite_ReduceFusion *>(node.params);
  const mslite_tensor &x = *node.inputs[0];
  NnapiCode code = NNAPI_MEAN;
  std::vector<int64_t> axes;
  if (!CodeOf(params->mode, &code)) return "NNAPI does not support the reduction";
  if (!ReduceAxes(node, &axes)) return "the axes are not constant";
  const bool is_stored = IsStored(x);
  if (is_stored && (code != NNAPI_MEAN || params->reduce_to_end)) return "a quantized reduction";
  if (is_stored || x.type != MSLITE_FLOAT32) {
    if (!is_stored) return "an input is not float32";
    if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  }
  std::vector<int64_t> dims = NnapiDims(x);
  NnapiValue value = plan->Input(0);
  if (params->mode == MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE) value = plan->Binary(NNAPI_MUL, value, value, dims);
  mslite_tensor reduced = *node.outputs[0];
  reduced.rank = x.rank;
  std::copy_n(x.dims, x.rank, reduced.dims);
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = reduced.dims[axis] = 1;
  const NnapiValue keeps = code == NNAPI_MEAN ? plan->Whole(1) : plan->Truth(true);
  NnapiValue y = plan->LayerLike(code, {value, plan->Integers(axes), keeps}, reduced);
  if (params->reduce_to_end && params->coeff != 0) {
    y = plan->Binary(NNAPI_MUL, y, plan->Number(params->coeff), dims);
  }
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

std::string PlanArg(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const ArgAttributes attributes = ArgOf(node);
  const mslite_tensor &x = *node.inputs[0];
  if (attributes.axis < 0 || !attributes.is_first_index || node.output_count != 1)
    return "it returns more than one index";
  if (x.type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_INT32) return "an input is not float32";
  std::vector<int64_t> dims = NnapiDims(x);
  dims.erase(dims.begin() + attributes.axis);
  if (dims.empty()) dims = {1};
  const NnapiCode code = node.op == MSLITE_OP_ArgMaxFusion ? NNAPI_ARGMAX : NNAPI_ARGMIN;
  const NnapiValue y = plan->Layer(code, {plan->Input(0), plan->Whole(attributes.axis)}, dims, NNAPI_TENSOR_INT32);
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

constexpr NnapiOperator kReductionOperators[] = {
    {MSLITE_OP_ReduceFusion, PlanReduce, true},
    {MSLITE_OP_ArgMaxFusion, PlanArg},
    {MSLITE_OP_ArgMinFusion, PlanArg},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiReduction() { return kReductionOperators; }
}  // namespace mslite
