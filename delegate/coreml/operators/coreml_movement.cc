// Operators that only move elements.
#include "coreml/operators/families.h"
#include "engine/element_map.h"

namespace mslite {
namespace {
std::string PlanAlias(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.output_count != 1) return "it has more than one output";
  if (CountIn(*node.inputs[0]) != CountIn(*node.outputs[0])) return "the shapes do not match";
  plan->Give(plan->Reshaped(plan->Input(0), CoreMlDims(*node.outputs[0])));
  return "";
}

std::string PlanTranspose(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<int64_t> order;
  if (!TransposeOrder(node, &order) || order.empty()) return "the permutation is not constant or has another rank";
  if (order == std::vector<int64_t>{0, 3, 1, 2}) {
    plan->Give(plan->Image(0));
  } else if (order == std::vector<int64_t>{0, 2, 3, 1}) {
    plan->GiveImage(plan->Input(0));
  } else {
    plan->Give(plan->Transposed(plan->Input(0), order));
  }
  return "";
}

std::string PlanSlice(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  std::vector<int32_t> map;
  if (!MapElements(node, &map)) return "an input that selects elements is not constant";
  mslite_tensor boxed = *node.outputs[0];
  Box box;
  if (!FindSlice(map, x, &boxed, &box)) return "the elements are not a regular slice";
  std::vector<int64_t> end;
  for (int32_t i = 0; i < x.rank; ++i) {
    const auto place = static_cast<size_t>(i);
    if (box.step[place] < 0) return "a negative step";
    end.push_back(box.begin[place] + (boxed.dims[i] - 1) * box.step[place] + 1);
  }
  const std::vector<int64_t> none(static_cast<size_t>(x.rank), 0);
  ProtoMessage message;
  message.Wholes(1, box.begin).Wholes(2, none).Wholes(3, end).Wholes(4, none).Wholes(5, box.step).Wholes(6, none);
  plan->Give(plan->Reshaped(plan->Layer(COREML_SLICE_STATIC, {plan->Input(0)}, message), CoreMlDims(*node.outputs[0])));
  return "";
}

std::string PlanPad(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  if (!PadsWithConstant(node)) return "mirrored padding";
  if (!ReadPads(node, &begin, &end)) return "the paddings are negative or not constant";
  if (node.input_count > 2) return "the fill value is not constant";
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < begin.size(); ++i) {
    pairs.push_back(begin[i]);
    pairs.push_back(end[i]);
  }
  ProtoMessage message;
  message.Real(1, static_cast<const mslite_PadFusion *>(node.params)->constant_value).Wholes(2, pairs);
  plan->Give(plan->Layer(COREML_CONSTANT_PAD, {plan->Input(0)}, message));
  return "";
}

std::string PlanJoin(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  std::vector<int64_t> piece = CoreMlDims(*node.outputs[0]);
  piece[static_cast<size_t>(axis)] = 1;
  std::vector<std::string> inputs;
  inputs.reserve(static_cast<size_t>(node.input_count));
  for (int32_t i = 0; i < node.input_count; ++i) {
    inputs.push_back(node.op == MSLITE_OP_Stack ? plan->Reshaped(plan->Input(i), piece) : plan->Input(i));
  }
  if (inputs.size() == 1) return "only one slice";
  plan->Give(plan->Layer(COREML_CONCAT_ND, inputs, ProtoMessage().Whole(1, axis)));
  return "";
}

std::string PlanSplit(CoreMlPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  if (node.output_count < 2) return "only one slice";
  std::vector<int64_t> sizes;
  sizes.reserve(static_cast<size_t>(node.output_count));
  for (int32_t i = 0; i < node.output_count; ++i) {
    sizes.push_back(node.op == MSLITE_OP_Unstack ? 1 : node.outputs[i]->dims[axis]);
  }
  ProtoMessage message;
  message.Whole(1, axis).Whole(2, node.output_count).Wholes(3, sizes);
  const std::vector<std::string> pieces = plan->Layers(COREML_SPLIT_ND, {plan->Input(0)}, message, node.output_count);
  for (int32_t i = 0; i < node.output_count; ++i) {
    const std::string &value = pieces[static_cast<size_t>(i)];
    plan->Give(node.op == MSLITE_OP_Unstack ? plan->Reshaped(value, CoreMlDims(*node.outputs[i])) : value, i);
  }
  return "";
}

constexpr CoreMlOperator kMovementOperators[] = {
    {MSLITE_OP_Reshape, PlanAlias},       {MSLITE_OP_Flatten, PlanAlias},
    {MSLITE_OP_Squeeze, PlanAlias},       {MSLITE_OP_Unsqueeze, PlanAlias},
    {MSLITE_OP_ExpandDims, PlanAlias},    {MSLITE_OP_Dropout, PlanAlias},
    {MSLITE_OP_Transpose, PlanTranspose}, {MSLITE_OP_SliceFusion, PlanSlice},
    {MSLITE_OP_StridedSlice, PlanSlice},  {MSLITE_OP_Crop, PlanSlice},
    {MSLITE_OP_PadFusion, PlanPad},       {MSLITE_OP_Concat, PlanJoin},
    {MSLITE_OP_Stack, PlanJoin},          {MSLITE_OP_Split, PlanSplit},
    {MSLITE_OP_Unstack, PlanSplit},       {0, nullptr},
};
}  // namespace

const CoreMlOperator *CoreMlMovement() { return kMovementOperators; }
}  // namespace mslite
