// Operators that only move elements.
#include <algorithm>

#include "engine/element_map.h"
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
std::string PlanAlias(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (node.output_count != 1) return "it has more than one output";
  if (CountIn(*node.inputs[0]) != CountIn(*node.outputs[0])) return "the shapes do not match";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  plan->Give(plan->Reshaped(plan->Input(0), NnapiDims(*node.outputs[0])));
  return "";
}

std::string PlanTranspose(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<int64_t> order;
  if (!TransposeOrder(node, &order)) return "the permutation is not constant or has another rank";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  // Dimensions that stay adjacent in the same order are merged.
  const mslite_tensor &x = *node.inputs[0];
  std::vector<int64_t> first;  // first input dimension of each merged dimension, in the order of the output
  mslite_tensor moved = *node.outputs[0];
  moved.rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i] == order[i - 1] + 1) {
      moved.dims[moved.rank - 1] *= x.dims[order[i]];
      continue;
    }
    first.push_back(order[i]);
    moved.dims[moved.rank++] = x.dims[order[i]];
  }
  if (first.size() > 4) return "more than four dimensions are permuted";
  std::vector<int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> dims(first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    const auto place = std::find(sorted.begin(), sorted.end(), first[i]) - sorted.begin();
    first[i] = place;
    dims[static_cast<size_t>(place)] = moved.dims[i];
  }
  if (first.empty()) {  // a scalar
    dims = {1};
    first = {0};
  }
  const NnapiValue y =
      plan->LayerLike(NNAPI_TRANSPOSE, {plan->Reshaped(plan->Input(0), dims), plan->Integers(first)}, moved);
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

std::string PlanSlice(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  std::vector<int32_t> map;
  if (!MapElements(node, &map)) return "an input that selects elements is not constant";
  mslite_tensor boxed = y;
  Box box;
  if (!FindSlice(map, x, &boxed, &box)) return "the elements are not a regular slice";
  std::vector<int64_t> end;
  // Bit mask of the dimensions with a negative step that end with element 0: no index expresses this end.
  int64_t to_front = 0;
  for (int32_t i = 0; i < x.rank; ++i) {
    const auto place = static_cast<size_t>(i);
    const int64_t last = box.begin[place] + (boxed.dims[i] - 1) * box.step[place];
    end.push_back(last + (box.step[place] > 0 ? 1 : -1));
    if (end.back() < 0) to_front |= int64_t{1} << i;
  }
  const NnapiValue none = plan->Whole(0);
  const NnapiValue slice = plan->LayerLike(NNAPI_STRIDED_SLICE,
                                           {plan->Input(0), plan->Integers(box.begin), plan->Integers(end),
                                            plan->Integers(box.step), none, plan->Whole(to_front), none},
                                           boxed);
  plan->Give(plan->Reshaped(slice, NnapiDims(y)));
  return "";
}

std::string PlanPad(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (!PadsWithConstant(node)) return "mirrored padding";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  if (!ReadPads(node, &begin, &end)) return "the paddings are negative or not constant";
  float fill = static_cast<const mslite_PadFusion *>(node.params)->constant_value;
  if (node.input_count > 2) {
    const mslite_tensor &value = *node.inputs[2];
    if (value.data == nullptr || value.type != MSLITE_FLOAT32) return "the fill value is not a float32 constant";
    fill = *static_cast<const float *>(value.data);
  }
  if (fill != 0 && node.inputs[0]->type != MSLITE_FLOAT32) return "an integer fill value";
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < begin.size(); ++i) {
    pairs.push_back(begin[i]);
    pairs.push_back(end[i]);
  }
  std::vector<NnapiValue> inputs = {plan->Input(0), plan->Integers({static_cast<int64_t>(begin.size()), 2}, pairs)};
  if (fill != 0) inputs.push_back(plan->Real(fill));
  plan->Give(plan->LayerLike(fill != 0 ? NNAPI_PAD_V2 : NNAPI_PAD, inputs, *node.outputs[0]));
  return "";
}

std::string PlanConcat(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  const mslite_tensor &y = *node.outputs[0];
  std::vector<int64_t> piece = NnapiDims(y);
  piece[static_cast<size_t>(axis)] = 1;
  std::vector<NnapiValue> inputs;
  for (int32_t i = 0; i < node.input_count; ++i) {
    const mslite_tensor &x = *node.inputs[i];
    if (x.type != y.type || x.type == MSLITE_BOOL || x.type == MSLITE_INT64) return "a slice has another data type";
    inputs.push_back(node.op == MSLITE_OP_Stack ? plan->Reshaped(plan->Input(i), piece) : plan->Input(i));
  }
  inputs.push_back(plan->Whole(axis));
  plan->Give(plan->LayerLike(NNAPI_CONCATENATION, inputs, y));
  return "";
}

// Splits into equal parts with one operation, into others with a slice for each part.
std::string PlanSplit(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  const mslite_tensor &x = *node.inputs[0];
  std::vector<int64_t> begin(static_cast<size_t>(x.rank), 0);
  for (int32_t i = 0; i < node.output_count; ++i) {
    mslite_node one = node;
    one.outputs = node.outputs + i;
    if (std::string reason = WhyNotMoved(one); !reason.empty()) return reason;
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    mslite_tensor piece = *node.outputs[i];
    piece.rank = x.rank;
    std::copy_n(x.dims, x.rank, piece.dims);
    piece.dims[axis] = node.op == MSLITE_OP_Unstack ? 1 : node.outputs[i]->dims[axis];
    const NnapiValue part =
        plan->LayerLike(NNAPI_SLICE, {plan->Input(0), plan->Integers(begin), plan->Integers(NnapiDims(piece))}, piece);
    plan->Give(plan->Reshaped(part, NnapiDims(*node.outputs[i])), i);
    begin[static_cast<size_t>(axis)] += piece.dims[axis];
  }
  return "";
}

std::string PlanTile(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &y = *node.outputs[0];
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  std::vector<int64_t> dims = NnapiDims(*node.inputs[0]);
  const std::vector<int64_t> wanted = NnapiDims(y);
  if (dims.size() > wanted.size()) return "the output has a lower rank than the input";
  dims.insert(dims.begin(), wanted.size() - dims.size(), 1);
  std::vector<int64_t> repeats;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (wanted[i] % dims[i] != 0) return "the sizes are not multiples";
    repeats.push_back(wanted[i] / dims[i]);
  }
  plan->Give(plan->LayerLike(NNAPI_TILE, {plan->Reshaped(plan->Input(0), dims), plan->Integers(repeats)}, y));
  return "";
}

std::string PlanBlocks(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  if (node.inputs[0]->rank != 4) return "the rank is not 4";
  const bool to_space = node.op == MSLITE_OP_DepthToSpace;
  if (to_space) {
    const char *mode = static_cast<const mslite_DepthToSpace *>(node.params)->mode;
    if (mode != nullptr && *mode != '\0' && std::string(mode) != "DCR") return "columns are before rows";
  }
  const int64_t size = to_space ? static_cast<const mslite_DepthToSpace *>(node.params)->block_size
                                : static_cast<const mslite_SpaceToDepth *>(node.params)->block_size;
  plan->Give(plan->LayerLike(to_space ? NNAPI_DEPTH_TO_SPACE : NNAPI_SPACE_TO_DEPTH,
                             {plan->Input(0), plan->Whole(size)}, *node.outputs[0]));
  return "";
}

// Supports constant indices only, because NNAPI does not define the result for indices out of range.
std::string PlanGather(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &indices = *node.inputs[1];
  const int32_t axis = GatherAxis(node);
  if (axis < 0) return "the axis is not constant";
  if (std::string reason = WhyNotMoved(node); !reason.empty()) return reason;
  std::vector<int64_t> places;
  if (std::string reason = ConstantIndices(indices, node.inputs[0]->dims[axis], &places); !reason.empty()) {
    return reason;
  }
  mslite_tensor gathered = *node.inputs[0];
  const std::vector<int64_t> own = NnapiDims(indices);
  if (static_cast<size_t>(gathered.rank) - 1 + own.size() > 4) return "the rank is above 4";
  std::vector<int64_t> dims = NnapiDims(gathered);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, own.begin(), own.end());
  gathered.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), gathered.dims);
  gathered.data = nullptr;
  const NnapiValue y =
      plan->LayerLike(NNAPI_GATHER, {plan->Input(0), plan->Whole(axis), plan->Integers(own, places)}, gathered);
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

constexpr NnapiOperator kMovementOperators[] = {
    {MSLITE_OP_Reshape, PlanAlias, true, true},
    {MSLITE_OP_Flatten, PlanAlias, true, true},
    {MSLITE_OP_Squeeze, PlanAlias, true, true},
    {MSLITE_OP_Unsqueeze, PlanAlias, true, true},
    {MSLITE_OP_ExpandDims, PlanAlias, true, true},
    {MSLITE_OP_Dropout, PlanAlias},
    {MSLITE_OP_Transpose, PlanTranspose, true, true},
    {MSLITE_OP_SliceFusion, PlanSlice},
    {MSLITE_OP_StridedSlice, PlanSlice},
    {MSLITE_OP_Crop, PlanSlice},
    {MSLITE_OP_ReverseV2, PlanSlice},
    {MSLITE_OP_PadFusion, PlanPad, true},
    {MSLITE_OP_Concat, PlanConcat, true},
    {MSLITE_OP_Stack, PlanConcat},
    {MSLITE_OP_Split, PlanSplit, true},
    {MSLITE_OP_Unstack, PlanSplit},
    {MSLITE_OP_TileFusion, PlanTile},
    {MSLITE_OP_BroadcastTo, PlanTile},
    {MSLITE_OP_DepthToSpace, PlanBlocks},
    {MSLITE_OP_SpaceToDepth, PlanBlocks},
    {MSLITE_OP_Gather, PlanGather},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiMovement() { return kMovementOperators; }
}  // namespace mslite
