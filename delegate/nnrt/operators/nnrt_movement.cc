// Operators that only move elements.
#include "engine/element_map.h"
#include "nnrt/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotMoved(const mslite_node &node) {
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another data type than the input";
}

std::string PlanAlias(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.output_count != 1) return "it has more than one output";
  if (CountIn(*node.inputs[0]) != CountIn(*node.outputs[0])) return "the shapes do not match";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  plan->Give(plan->Reshaped(plan->Input(0), NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanTranspose(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<int64_t> order;
  if (!TransposeOrder(node, &order)) return "the permutation is not constant or has another rank";
  if (order.empty()) return "an input is a scalar";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  plan->Give(plan->Layer(NNRT_TRANSPOSE, {}, {plan->Input(0), plan->Integers(order)}, NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanSlice(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
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
  const NnrtValue slice = plan->Layer(
      NNRT_STRIDED_SLICE,
      {plan->Whole(NNRT_STRIDED_SLICE_BEGIN_MASK, 0), plan->Whole(NNRT_STRIDED_SLICE_END_MASK, 0),
       plan->Whole(NNRT_STRIDED_SLICE_ELLIPSIS_MASK, 0), plan->Whole(NNRT_STRIDED_SLICE_NEW_AXIS_MASK, 0),
       plan->Whole(NNRT_STRIDED_SLICE_SHRINK_AXIS_MASK, 0)},
      {plan->Input(0), plan->Integers(box.begin), plan->Integers(end), plan->Integers(box.step)}, NnrtDims(boxed));
  plan->Give(plan->Reshaped(slice, NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanPad(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  if (!PadsWithConstant(node)) return "mirrored padding";
  if (node.inputs[0]->type != MSLITE_FLOAT32) return "an input is not float32";
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  if (!ReadPads(node, &begin, &end)) return "the paddings are negative or not constant";
  float fill = static_cast<const mslite_PadFusion *>(node.params)->constant_value;
  if (node.input_count > 2) {
    const mslite_tensor &value = *node.inputs[2];
    if (value.data == nullptr || value.type != MSLITE_FLOAT32) return "the fill value is not a float32 constant";
    fill = *static_cast<const float *>(value.data);
  }
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < begin.size(); ++i) {
    pairs.push_back(begin[i]);
    pairs.push_back(end[i]);
  }
  plan->Give(plan->Layer(NNRT_PAD, {plan->Real(NNRT_PAD_CONSTANT_VALUE, fill)},
                         {plan->Input(0), plan->Integers({static_cast<int64_t>(begin.size()), 2}, pairs)},
                         NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanJoin(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != node.outputs[0]->type) return "a slice has another data type";
  }
  const bool is_stack = node.op == MSLITE_OP_Stack;
  if (is_stack && node.inputs[0]->rank == 0) return "an input is a scalar";
  plan->Give(plan->Layer(is_stack ? NNRT_STACK : NNRT_CONCAT,
                         {plan->Whole(is_stack ? NNRT_STACK_AXIS : NNRT_CONCAT_AXIS, axis)},
                         plan->Inputs(node.input_count), NnrtDims(*node.outputs[0])));
  return "";
}

std::string PlanSplit(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  std::vector<int64_t> sizes;
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (node.outputs[i]->type != node.inputs[0]->type) return "a slice has another data type";
    if (node.outputs[i]->rank == 0) return "an input is a scalar";
    sizes.push_back(node.op == MSLITE_OP_Unstack ? 1 : node.outputs[i]->dims[axis]);
  }
  if (node.op == MSLITE_OP_Unstack) {
    plan->LayerOfOutputs(NNRT_UNSTACK, {plan->Whole(NNRT_UNSTACK_AXIS, axis)}, {plan->Input(0)});
  } else {
    plan->LayerOfOutputs(NNRT_SPLIT,
                         {plan->Whole(NNRT_SPLIT_AXIS, axis), plan->Whole(NNRT_SPLIT_OUTPUT_NUM, node.output_count),
                          plan->Wholes(NNRT_SPLIT_SIZE_SPLITS, sizes)},
                         {plan->Input(0)});
  }
  return "";
}

std::string PlanTile(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  std::vector<int64_t> dims = NnrtDims(*node.inputs[0]);
  const std::vector<int64_t> wanted = NnrtDims(*node.outputs[0]);
  if (dims.size() > wanted.size()) return "the output has a lower rank than the input";
  dims.insert(dims.begin(), wanted.size() - dims.size(), 1);
  std::vector<int64_t> repeats;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (wanted[i] % dims[i] != 0) return "the sizes are not multiples";
    repeats.push_back(wanted[i] / dims[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  plan->Give(plan->Layer(NNRT_TILE, {plan->Wholes(NNRT_TILE_DIMS, axes)},
                         {plan->Reshaped(plan->Input(0), dims), plan->Integers(repeats)}, wanted));
  return "";
}

std::string PlanBlocks(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (node.inputs[0]->rank != 4) return "the rank is not 4";
  const int64_t size = static_cast<const mslite_SpaceToDepth *>(node.params)->block_size;
  plan->Give(plan->Layer(NNRT_SPACE_TO_DEPTH, {plan->Whole(NNRT_SPACE_TO_DEPTH_BLOCK_SIZE, size)}, {plan->Input(0)},
                         NnrtDims(*node.outputs[0])));
  return "";
}

// Supports constant indices only, because NNRT does not define the result for indices out of range.
std::string PlanGather(NnrtPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = GatherAxis(node);
  std::vector<int64_t> places;
  if (axis < 0) return "the axis is not constant";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  if (std::string reason = ConstantIndices(*node.inputs[1], node.inputs[0]->dims[axis], &places); !reason.empty()) {
    return reason;
  }
  std::vector<int64_t> dims = NnrtDims(*node.inputs[0]);
  const std::vector<int64_t> own = NnrtDims(*node.inputs[1]);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, own.begin(), own.end());
  const NnrtValue y =
      plan->Layer(NNRT_GATHER, {}, {plan->Input(0), plan->Integers(own, places), plan->Integers({axis})}, dims);
  plan->Give(plan->Reshaped(y, NnrtDims(*node.outputs[0])));
  return "";
}

constexpr NnrtOperator kMovementOperators[] = {
    {MSLITE_OP_Reshape, PlanAlias},       {MSLITE_OP_Flatten, PlanAlias},
    {MSLITE_OP_Squeeze, PlanAlias},       {MSLITE_OP_Unsqueeze, PlanAlias},
    {MSLITE_OP_ExpandDims, PlanAlias},    {MSLITE_OP_Dropout, PlanAlias},
    {MSLITE_OP_Transpose, PlanTranspose}, {MSLITE_OP_SliceFusion, PlanSlice},
    {MSLITE_OP_StridedSlice, PlanSlice},  {MSLITE_OP_Crop, PlanSlice},
    {MSLITE_OP_PadFusion, PlanPad},       {MSLITE_OP_Concat, PlanJoin},
    {MSLITE_OP_Stack, PlanJoin},          {MSLITE_OP_Split, PlanSplit},
    {MSLITE_OP_Unstack, PlanSplit},       {MSLITE_OP_TileFusion, PlanTile},
    {MSLITE_OP_BroadcastTo, PlanTile},    {MSLITE_OP_SpaceToDepth, PlanBlocks},
    {MSLITE_OP_Gather, PlanGather},       {0, nullptr},
};
}  // namespace

const NnrtOperator *NnrtMovement() { return kMovementOperators; }
}  // namespace mslite
