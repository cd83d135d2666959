// Operators that only move elements: reshapes, transpositions, slices, concatenations, and index maps from output
// elements to input elements, which the CPU's kernels compute.
#include "engine/element_map.h"
#include "openvino/operators/families.h"
#include "rearrange/block_plan.h"

namespace mslite {
namespace {
std::string WhyNotType(const mslite_node &node) {
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another data type than the input";
}

// ---- reshapes ----

std::string WhyNotAlias(const mslite_node &node) {
  if (node.output_count != 1) return "it has more than one output";
  if (CountIn(*node.inputs[0]) != CountIn(*node.outputs[0])) return "the shapes do not match";
  return WhyNotType(node);
}

void PlanAlias(OpenVinoPlan *plan) { plan->Give(plan->Reshaped(plan->Input(0), DimsOf(*plan->node().outputs[0]))); }

// ---- gather with an index map ----

std::string WhyNotMap(const mslite_node &node) {
  if (std::string reason = WhyNotType(node); !reason.empty()) return reason;
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (node.inputs[i]->data == nullptr) return "an input that selects elements is not constant";
  }
  std::vector<int32_t> map;
  return MapElements(node, &map) ? "" : "no kernel supports the parameters";
}

void GatherByMap(OpenVinoPlan *plan, const std::vector<int32_t> &map) {
  const OpenVinoValue flat = plan->Reshaped(plan->Input(0), {CountIn(*plan->node().inputs[0])});
  const OpenVinoValue indices = plan->Indices(map);
  const OpenVinoValue moved = plan->Layer("Gather", {flat, indices, plan->Integer(0)}, {{"batch_dims", "0"}}, "opset8");
  plan->Give(plan->Reshaped(moved, DimsOf(*plan->node().outputs[0])));
}

void PlanMap(OpenVinoPlan *plan) {
  std::vector<int32_t> map;
  MapElements(plan->node(), &map);
  GatherByMap(plan, map);
}

// ---- slices ----

void PlanSlice(OpenVinoPlan *plan) {
  const mslite_tensor &x = *plan->node().inputs[0];
  const mslite_tensor &y = *plan->node().outputs[0];
  std::vector<int32_t> map;
  MapElements(plan->node(), &map);
  Box box;
  if (!SliceOf(map, x, y, &box)) {
    GatherByMap(plan, map);
    return;
  }
  std::vector<int64_t> end;
  std::vector<int64_t> axes;
  for (int32_t i = 0; i < x.rank; ++i) {
    const auto place = static_cast<size_t>(i);
    // A slice with a negative step that includes element 0 ends before it. Only a very negative end expresses this,
    // because other negative values count from the end of the dimension.
    const int64_t last = box.begin[place] + (y.dims[i] - 1) * box.step[place];
    const int64_t behind = last + (box.step[place] > 0 ? 1 : -1);
    end.push_back(behind < 0 ? -x.dims[i] - 1 : behind);
    axes.push_back(i);
  }
  plan->Give(plan->Layer(
      "Slice",
      {plan->Input(0), plan->Integers(box.begin), plan->Integers(end), plan->Integers(box.step), plan->Integers(axes)},
      {}, "opset8"));
}

// ---- Transpose ----

std::string WhyNotTranspose(const mslite_node &node) {
  std::vector<int64_t> order;
  return TransposeOrder(node, &order) ? WhyNotType(node) : "the permutation is not constant or has another rank";
}

void PlanTranspose(OpenVinoPlan *plan) {
  std::vector<int64_t> order;
  TransposeOrder(plan->node(), &order);
  if (order == std::vector<int64_t>{0, 3, 1, 2}) {
    plan->Give(plan->Image(0));
  } else if (order == std::vector<int64_t>{0, 2, 3, 1}) {
    plan->GiveImage(plan->Input(0));
  } else {
    plan->Give(plan->Transposed(plan->Input(0), order));
  }
}

// ---- PadFusion with a constant ----

std::string WhyNotPad(const mslite_node &node) {
  if (!PadsWithConstant(node)) return WhyNotMap(node);
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32) {
    return "an input is not float32";
  }
  if (node.input_count > 2 && (node.inputs[2]->type != MSLITE_FLOAT32 || CountIn(*node.inputs[2]) != 1)) {
    return "the fill value has another data type";
  }
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  return ReadPads(node, &begin, &end) ? "" : "the paddings are negative or not constant";
}

void PlanPad(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  if (!PadsWithConstant(node)) {
    PlanMap(plan);
    return;
  }
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  ReadPads(node, &begin, &end);
  const OpenVinoValue value = node.input_count > 2
                                  ? plan->Reshaped(plan->Input(2), {})
                                  : plan->Real(static_cast<const mslite_PadFusion *>(node.params)->constant_value);
  const bool is_image = plan->HasImage(0);
  if (is_image) {
    begin = {begin[0], begin[3], begin[1], begin[2]};
    end = {end[0], end[3], end[1], end[2]};
  }
  const OpenVinoValue y = plan->Layer(
      "Pad", {is_image ? plan->Image(0) : plan->Input(0), plan->Integers(begin), plan->Integers(end), value},
      {{"pad_mode", "constant"}});
  if (is_image) {
    plan->GiveImage(y);
  } else {
    plan->Give(y);
  }
}

// ---- Concat, Stack, Split, Unstack ----

std::string WhyNotJoin(const mslite_node &node) {
  const mslite_tensor &whole = Joins(node.op) ? *node.outputs[0] : *node.inputs[0];
  const int32_t count = Joins(node.op) ? node.input_count : node.output_count;
  if (JoinAxis(node) < 0) return "the axis is out of range";
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i) {
    const mslite_tensor &piece = Joins(node.op) ? *node.inputs[i] : *node.outputs[i];
    if (piece.type != whole.type) return "a slice has another data type";
    total += CountIn(piece);
  }
  return total == CountIn(whole) ? WhyNotType(node) : "the slices do not match the whole tensor";
}

void PlanConcat(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  int32_t axis = JoinAxis(node);
  bool is_image = node.outputs[0]->rank == 4;
  bool has_image = false;
  for (int32_t i = 0; i < node.input_count; ++i) {
    is_image = is_image && node.inputs[i]->rank == 4;
    has_image = has_image || plan->HasImage(i);
  }
  is_image = is_image && has_image;
  std::vector<OpenVinoValue> pieces;
  pieces.reserve(static_cast<size_t>(node.input_count));
  for (int32_t i = 0; i < node.input_count; ++i) pieces.push_back(is_image ? plan->Image(i) : plan->Input(i));
  if (is_image) {
    constexpr int32_t kPlaces[] = {0, 2, 3, 1};
    axis = kPlaces[axis];
  }
  const OpenVinoValue y = plan->Layer("Concat", pieces, {{"axis", std::to_string(axis)}});
  if (is_image) {
    plan->GiveImage(y);
  } else {
    plan->Give(y);
  }
}

void PlanStack(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  OpenVinoIr::Dims dims = DimsOf(*node.outputs[0]);
  dims[static_cast<size_t>(axis)] = 1;
  std::vector<OpenVinoValue> pieces;
  pieces.reserve(static_cast<size_t>(node.input_count));
  for (int32_t i = 0; i < node.input_count; ++i) pieces.push_back(plan->Reshaped(plan->Input(i), dims));
  plan->Give(plan->Layer("Concat", pieces, {{"axis", std::to_string(axis)}}));
}

// Outputs of Unstack do not have the dimension.
void PlanSplit(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const int32_t axis = JoinAxis(node);
  std::vector<int64_t> lengths;
  lengths.reserve(static_cast<size_t>(node.output_count));
  for (int32_t i = 0; i < node.output_count; ++i) {
    lengths.push_back(node.op == MSLITE_OP_Unstack ? 1 : node.outputs[i]->dims[axis]);
  }
  OpenVinoValue piece = plan->Layer("VariadicSplit", {plan->Input(0), plan->Integer(axis), plan->Integers(lengths)}, {},
                                    "opset1", node.output_count);
  for (int32_t i = 0; i < node.output_count; ++i, ++piece.port) {
    plan->Give(node.op == MSLITE_OP_Unstack ? plan->Reshaped(piece, DimsOf(*node.outputs[i])) : piece, i);
  }
}

// ---- Tile and BroadcastTo ----

std::string WhyNotTile(const mslite_node &node) {
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  if (x.rank != y.rank) return WhyNotMap(node);
  for (int32_t i = 0; i < x.rank; ++i) {
    if (y.dims[i] % x.dims[i] != 0) return "the sizes are not multiples";
  }
  return WhyNotType(node);
}

void PlanTile(OpenVinoPlan *plan) {
  const mslite_tensor &x = *plan->node().inputs[0];
  const mslite_tensor &y = *plan->node().outputs[0];
  if (x.rank != y.rank) {
    PlanMap(plan);
    return;
  }
  std::vector<int64_t> repeats;
  repeats.reserve(static_cast<size_t>(x.rank));
  for (int32_t i = 0; i < x.rank; ++i) repeats.push_back(y.dims[i] / x.dims[i]);
  plan->Give(plan->Layer("Tile", {plan->Input(0), plan->Integers(repeats)}));
}

void PlanBroadcast(OpenVinoPlan *plan) {
  const OpenVinoValue dims = plan->Integers(DimsOf(*plan->node().outputs[0]));
  plan->Give(plan->Layer("Broadcast", {plan->Input(0), dims}, {{"mode", "numpy"}}, "opset3"));
}

// ---- DepthToSpace and SpaceToDepth ----

std::string WhyNotBlocks(const mslite_node &node) {
  if (node.op == MSLITE_OP_DepthToSpace) {
    const char *mode = static_cast<const mslite_DepthToSpace *>(node.params)->mode;
    if (mode != nullptr && *mode != '\0' && std::string(mode) != "DCR") return WhyNotMap(node);
  }
  return node.inputs[0]->rank == 4 ? CheckFloat32(node) : "the rank is not 4";
}

void PlanBlocks(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const bool to_space = node.op == MSLITE_OP_DepthToSpace;
  if (to_space) {
    const char *mode = static_cast<const mslite_DepthToSpace *>(node.params)->mode;
    if (mode != nullptr && *mode != '\0' && std::string(mode) != "DCR") {
      PlanMap(plan);
      return;
    }
  }
  const int64_t size = to_space ? static_cast<const mslite_DepthToSpace *>(node.params)->block_size
                                : static_cast<const mslite_SpaceToDepth *>(node.params)->block_size;
  plan->GiveImage(plan->Layer(to_space ? "DepthToSpace" : "SpaceToDepth", {plan->Image(0)},
                              {{"mode", "blocks_first"}, {"block_size", std::to_string(size)}}));
}

// ---- SpaceToBatch and BatchToSpace ----

bool IsToBatch(const mslite_node &node) {
  return node.op == MSLITE_OP_SpaceToBatch || node.op == MSLITE_OP_SpaceToBatchND;
}

bool BlocksOf(const mslite_node &node, mslite_block_plan *blocks) {
  return mslite_plan_blocks(node.op, node.params, node.inputs, node.input_count, blocks) && blocks->count >= 0;
}

std::string WhyNotBatch(const mslite_node &node) {
  mslite_block_plan blocks;
  if (!BlocksOf(node, &blocks)) return "the block sizes are not constant";
  if (node.inputs[0]->rank != 4 || blocks.count > 2) return "the rank is not 4";
  return CheckFloat32(mslite_node{node.op, node.params, 1, node.output_count, node.inputs, node.outputs, 0});
}

// Uses reshapes and transpositions, because OpenVINO 2026.4 computes its SpaceToBatch and BatchToSpace incorrectly
// between convolutions.
void PlanBatch(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  mslite_block_plan blocks;
  BlocksOf(node, &blocks);
  std::vector<int64_t> before(4, 0);
  std::vector<int64_t> after(4, 0);
  int64_t size[] = {1, 1};
  for (int32_t i = 0; i < blocks.count; ++i) {
    const auto place = static_cast<size_t>(i) + 1;
    size[i] = blocks.block[i];
    before[place] = blocks.before[i];
    after[place] = blocks.after[i];
  }
  if (IsToBatch(node)) {
    OpenVinoValue value =
        plan->Layer("Pad", {plan->Input(0), plan->Integers(before), plan->Integers(after), plan->Real(0)},
                    {{"pad_mode", "constant"}});
    value = plan->Reshaped(value, {x.dims[0], y.dims[1], size[0], y.dims[2], size[1], x.dims[3]});
    plan->Give(plan->Reshaped(plan->Transposed(value, {2, 4, 0, 1, 3, 5}), DimsOf(y)));
    return;
  }
  OpenVinoValue value = plan->Reshaped(plan->Input(0), {size[0], size[1], y.dims[0], x.dims[1], x.dims[2], x.dims[3]});
  value = plan->Reshaped(plan->Transposed(value, {2, 3, 0, 4, 1, 5}),
                         {y.dims[0], x.dims[1] * size[0], x.dims[2] * size[1], x.dims[3]});
  const std::vector<int64_t> end = {y.dims[0], before[1] + y.dims[1], before[2] + y.dims[2], y.dims[3]};
  plan->Give(plan->Layer("Slice", {value, plan->Integers(before), plan->Integers(end), plan->Integers({1, 1, 1, 1})},
                         {}, "opset8"));
}

constexpr OpenVinoOperator kMovementOperators[] = {
    {MSLITE_OP_Reshape, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Flatten, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Squeeze, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Unsqueeze, WhyNotAlias, PlanAlias},
    {MSLITE_OP_ExpandDims, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Dropout, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Transpose, WhyNotTranspose, PlanTranspose},
    {MSLITE_OP_SliceFusion, WhyNotMap, PlanSlice},
    {MSLITE_OP_StridedSlice, WhyNotMap, PlanSlice},
    {MSLITE_OP_Crop, WhyNotMap, PlanSlice},
    {MSLITE_OP_ReverseV2, WhyNotMap, PlanSlice},
    {MSLITE_OP_FormatTranspose, WhyNotMap, PlanMap},
    {MSLITE_OP_BatchToSpace, WhyNotBatch, PlanBatch},
    {MSLITE_OP_BatchToSpaceND, WhyNotBatch, PlanBatch},
    {MSLITE_OP_SpaceToBatch, WhyNotBatch, PlanBatch},
    {MSLITE_OP_SpaceToBatchND, WhyNotBatch, PlanBatch},
    {MSLITE_OP_ReverseSequence, WhyNotMap, PlanMap},
    {MSLITE_OP_Splice, WhyNotMap, PlanMap},
    {MSLITE_OP_GatherD, WhyNotMap, PlanMap},
    {MSLITE_OP_TileFusion, WhyNotTile, PlanTile},
    {MSLITE_OP_BroadcastTo, WhyNotType, PlanBroadcast},
    {MSLITE_OP_DepthToSpace, WhyNotBlocks, PlanBlocks},
    {MSLITE_OP_SpaceToDepth, WhyNotBlocks, PlanBlocks},
    {MSLITE_OP_PadFusion, WhyNotPad, PlanPad},
    {MSLITE_OP_Concat, WhyNotJoin, PlanConcat},
    {MSLITE_OP_Stack, WhyNotJoin, PlanStack},
    {MSLITE_OP_Split, WhyNotJoin, PlanSplit},
    {MSLITE_OP_Unstack, WhyNotJoin, PlanSplit},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoMovement() { return kMovementOperators; }
}  // namespace mslite
