// Operators that only move elements: reshapes, strided copies, and index maps from output elements to input elements.
// Copies and maps are computed by the code of the CPU's kernels.
#include <algorithm>
#include <cstring>

#include "engine/attributes.h"
#include "engine/element_map.h"
#include "opencl/operators/families.h"
#include "strided_copy.h"

namespace mslite {
namespace {
// ---- reshapes ----

std::string WhyNotAlias(const mslite_node &node) {
  if (node.output_count != 1) return "it has more than one output";
  if (CountOf(*node.inputs[0]) != CountOf(*node.outputs[0])) return "the shapes do not match";
  return node.inputs[0]->type == node.outputs[0]->type ? "" : "the output has another data type than the input";
}

void PlanAlias(OpenClPlan *plan) { plan->Alias(0); }

// ---- strided copies ----

struct Walk {
  std::vector<int64_t> sizes;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
  int64_t from_base = 0;
  int64_t to_base = 0;
};

void LaunchCopy(OpenClPlan *plan, OpenClOperand from, OpenClOperand to, Walk walk) {
  int64_t unit = 1;
  // Four adjacent elements are copied at a time.
  const auto is_even = [](int64_t number) { return number % 4 == 0; };
  if (!walk.sizes.empty() && walk.from.back() == 1 && walk.to.back() == 1 && is_even(walk.sizes.back()) &&
      is_even(walk.from_base) && is_even(walk.to_base) &&
      std::all_of(walk.from.begin(), walk.from.end() - 1, is_even) &&
      std::all_of(walk.to.begin(), walk.to.end() - 1, is_even)) {
    unit = 4;
    walk.sizes.back() /= 4;
    walk.from_base /= 4;
    walk.to_base /= 4;
    for (size_t i = 0; i + 1 < walk.sizes.size(); ++i) {
      walk.from[i] /= 4;
      walk.to[i] /= 4;
    }
  }
  int64_t count = 1;
  for (const int64_t size : walk.sizes) count *= size;
  std::vector<int64_t> shape = walk.sizes;
  shape.insert(shape.end(), walk.from.begin(), walk.from.end());
  shape.insert(shape.end(), walk.to.begin(), walk.to.end());
  if (shape.empty()) shape.push_back(0);
  const OpenClOperand numbers = plan->Integers(shape);
  const OpenClAccessPattern access = unit == 4 ? OpenClAccessPattern::Fours() : OpenClAccessPattern();
  OpenClLaunch &launch = plan->Launch("copy", "copy");
  launch.Define("COPY", 1)
      .Define("UNIT", unit)
      .TakesEpilogue(unit == 4)
      .Input("x", from, access)
      .Output("y", to, access)
      .Buffer(numbers);
  launch.Integer(static_cast<int64_t>(walk.sizes.size())).Integer(walk.from_base).Integer(walk.to_base);
  launch.Integer(count).Items(count);
  launch.Touches(0, unit * count).Touches(1, unit * count).Touches(2, count * static_cast<int64_t>(shape.size()));
}

bool CopyOf(const mslite_node &node, Walk *walk) {
  const mslite_kernel *kernel = OwnKernel(node);
  if (kernel == nullptr) return false;
  std::vector<uint64_t> derived(static_cast<size_t>(kernel->derived_size) / 8 + 1);
  mslite_schedule schedule = {};
  if (kernel->prepare(&node, derived.data(), &schedule) != MSLITE_OK) return false;
  mslite_copy copy;  // must be the first member
  std::memcpy(&copy, derived.data(), sizeof copy);
  walk->sizes.assign(copy.sizes, copy.sizes + copy.rank);
  walk->from.assign(copy.from, copy.from + copy.rank);
  walk->to.assign(copy.to, copy.to + copy.rank);
  walk->from_base = copy.from_base;
  walk->to_base = copy.to_base;
  return true;
}

std::string WhyNotCopy(const mslite_node &node) {
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (node.inputs[i]->data == nullptr) return "an input that selects elements is not constant";
  }
  Walk walk;
  return CopyOf(node, &walk) ? "" : "the kernel does not support the parameters";
}

void PlanCopy(OpenClPlan *plan) {
  Walk walk;
  CopyOf(plan->node(), &walk);
  LaunchCopy(plan, plan->Input(0), plan->Output(), std::move(walk));
}

// ---- gather with an index map, which the CPU's kernel computes ----

std::string WhyNotMap(const mslite_node &node) {
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (node.inputs[i]->data == nullptr) return "an input that selects elements is not constant";
  }
  std::vector<int32_t> map;
  if (node.inputs[0]->type != node.outputs[0]->type) return "the output has another data type than the input";
  return MapElements(node, &map, true) ? "" : "the kernel does not support the parameters";
}

void PlanMap(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  std::vector<int32_t> map;
  MapElements(node, &map, true);
  const OpenClOperand numbers = plan->Integers({map.begin(), map.end()});
  const int64_t count = CountOf(*node.outputs[0]);
  OpenClLaunch &launch = plan->Launch("copy", "copy_by_map");
  launch.Define("MAP", 1).Input("x", plan->Input(0)).Output("y", plan->Output()).Buffer(numbers);
  launch.Integer(count).Items(count).Touches(0, count);
}

// ---- PadFusion with a constant: fill the output, then copy the input into it ----

bool Pads(const mslite_node &node, std::vector<int64_t> *pads) {
  const mslite_tensor &x = *node.inputs[0];
  const auto *params = static_cast<const mslite_PadFusion *>(node.params);
  pads->assign(static_cast<size_t>(2 * x.rank), 0);
  if (HasInput(node, 1)) {
    const mslite_tensor &listed = *node.inputs[1];
    if (listed.data == nullptr || CountOf(listed) != 2 * x.rank) return false;
    for (int32_t i = 0; i < 2 * x.rank; ++i)
      (*pads)[static_cast<size_t>(i)] = mslite_integer_at(listed.data, listed.type, i);
  } else {
    if (static_cast<int64_t>(params->paddings.count) != x.rank) return false;
    for (int32_t i = 0; i < x.rank; ++i) {
      if (params->paddings.at[i].count != 2) return false;
      (*pads)[static_cast<size_t>(2 * i)] = params->paddings.at[i].at[0];
      (*pads)[static_cast<size_t>(2 * i) + 1] = params->paddings.at[i].at[1];
    }
  }
  for (int32_t i = 0; i < x.rank; ++i) {
    const int64_t before = (*pads)[static_cast<size_t>(2 * i)];
    const int64_t after = (*pads)[static_cast<size_t>(2 * i) + 1];
    if (before < 0 || after < 0 || node.outputs[0]->dims[i] != x.dims[i] + before + after) return false;
  }
  return true;
}

bool PadsWithConstant(const mslite_node &node) {
  const auto *params = static_cast<const mslite_PadFusion *>(node.params);
  return params->padding_mode == MSLITE_PADDING_MODE_CONSTANT;
}

std::string WhyNotPad(const mslite_node &node) {
  if (!PadsWithConstant(node)) return WhyNotMap(node);
  std::vector<int64_t> pads;
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32)
    return "an input is not float32";
  if (HasInput(node, 2) && RealsOf(*node.inputs[2]).size() != 1) return "the fill value is not constant";
  return Pads(node, &pads) ? "" : "the paddings are negative or not constant";
}

void PlanPad(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  if (!PadsWithConstant(node)) {
    PlanMap(plan);
    return;
  }
  std::vector<int64_t> pads;
  Pads(node, &pads);
  const mslite_tensor &x = *node.inputs[0];
  const mslite_tensor &y = *node.outputs[0];
  const float value = HasInput(node, 2) ? RealsOf(*node.inputs[2])[0]
                                        : static_cast<const mslite_PadFusion *>(node.params)->constant_value;
  OpenClLaunch &fill = plan->Launch("copy", "fill");
  fill.Define("FILL", 1).Output("y", plan->Output()).Real(value).Integer(CountOf(y)).Items(CountOf(y));
  Walk walk;
  walk.sizes.assign(x.dims, x.dims + x.rank);
  walk.from.resize(static_cast<size_t>(x.rank));
  walk.to.resize(static_cast<size_t>(x.rank));
  mslite_row_major(x.dims, x.rank, walk.from.data());
  mslite_row_major(y.dims, y.rank, walk.to.data());
  for (size_t i = 0; i < walk.to.size(); ++i) walk.to_base += pads[2 * i] * walk.to[i];
  LaunchCopy(plan, plan->Input(0), plan->Output(), std::move(walk));
}

// ---- Concat, Stack, Split, Unstack ----

std::string WhyNotJoin(const mslite_node &node) {
  const mslite_tensor &whole = Joins(node.op) ? *node.outputs[0] : *node.inputs[0];
  const int32_t count = Joins(node.op) ? node.input_count : node.output_count;
  const int32_t axis = JoinAxis(node);
  if (axis < 0) return "the axis is out of range";
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i) {
    const mslite_tensor &piece = Joins(node.op) ? *node.inputs[i] : *node.outputs[i];
    if (piece.type != whole.type) return "a slice has another data type";
    total += CountOf(piece);
  }
  return total == CountOf(whole) ? "" : "the slices do not match the whole tensor";
}

// Adds one launch for the parts [first, last) of the node. `begins`: offset of each part in a row of the whole tensor.
void LaunchJoin(OpenClPlan *plan, const std::vector<int64_t> &begins, int64_t row, size_t first, size_t last,
                int64_t outer) {
  const bool joins = Joins(plan->node().op);
  int64_t pieces = 2;  // unused parts are empty
  while (pieces < static_cast<int64_t>(last - first)) pieces *= 2;
  int64_t unit = row % 4 == 0 ? 4 : 1;
  for (size_t i = first; i <= last; ++i) unit = begins[i] % 4 == 0 ? unit : 1;
  std::vector<int64_t> units;
  for (int64_t i = 0; i <= pieces; ++i) {
    units.push_back(begins[std::min(first + static_cast<size_t>(i), last)] / unit);
  }
  const OpenClOperand numbers = plan->Integers(units);
  OpenClLaunch &launch = plan->Launch("copy", joins ? "join" : "cut");
  launch.Define("PIECES", pieces).Define("UNIT", unit);
  const OpenClAccessPattern access = unit == 4 ? OpenClAccessPattern::Fours() : OpenClAccessPattern();
  if (!joins) launch.Input("x", plan->Input(0), access);
  for (int64_t i = 0; i < pieces; ++i) {
    const auto piece = static_cast<int32_t>(std::min(first + static_cast<size_t>(i), last - 1));
    const std::string name = (joins ? "x" : "y") + std::to_string(i);
    joins ? launch.Input(name.c_str(), plan->Input(piece), access)
          : launch.Output(name.c_str(), plan->Output(piece), access);
    if (first + static_cast<size_t>(i) >= last) launch.arguments.back().touched = 0;
  }
  const int64_t count = outer * (units.back() - units.front());
  if (joins) {
    launch.Output("y", plan->Output(), access)
        .Touches(static_cast<size_t>(pieces), count * unit)
        .TakesEpilogue(unit == 4);
  } else {
    launch.Touches(0, count * unit);
  }
  launch.Buffer(numbers).Touches(static_cast<size_t>(pieces) + 1, 0);
  launch.Integer(row / unit).Integer(count).Items(count);
}

void PlanJoin(OpenClPlan *plan) {
  constexpr size_t kMaxPieces = 32;
  const mslite_node &node = plan->node();
  const bool joins = Joins(node.op);
  const mslite_tensor &whole = joins ? *node.outputs[0] : *node.inputs[0];
  const int32_t axis = JoinAxis(node);
  int64_t outer = 1;
  for (int32_t i = 0; i < axis; ++i) outer *= whole.dims[i];
  const auto count = static_cast<size_t>(joins ? node.input_count : node.output_count);
  std::vector<int64_t> begins = {0};
  for (size_t i = 0; i < count; ++i) {
    begins.push_back(begins.back() + CountOf(joins ? *node.inputs[i] : *node.outputs[i]) / outer);
  }
  for (size_t first = 0; first < count; first += kMaxPieces) {
    LaunchJoin(plan, begins, begins.back(), first, std::min(first + kMaxPieces, count), outer);
  }
}

constexpr OpenClOperator kMovementOperators[] = {
    {MSLITE_OP_Reshape, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Flatten, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Squeeze, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Unsqueeze, WhyNotAlias, PlanAlias},
    {MSLITE_OP_ExpandDims, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Dropout, WhyNotAlias, PlanAlias},
    {MSLITE_OP_Transpose, WhyNotCopy, PlanCopy},
    {MSLITE_OP_FormatTranspose, WhyNotCopy, PlanCopy},
    {MSLITE_OP_SliceFusion, WhyNotCopy, PlanCopy},
    {MSLITE_OP_StridedSlice, WhyNotCopy, PlanCopy},
    {MSLITE_OP_Crop, WhyNotMap, PlanMap},
    {MSLITE_OP_TileFusion, WhyNotCopy, PlanCopy},
    {MSLITE_OP_BroadcastTo, WhyNotCopy, PlanCopy},
    {MSLITE_OP_DepthToSpace, WhyNotCopy, PlanCopy},
    {MSLITE_OP_SpaceToDepth, WhyNotCopy, PlanCopy},
    {MSLITE_OP_ReverseV2, WhyNotCopy, PlanCopy},
    {MSLITE_OP_BatchToSpace, WhyNotMap, PlanMap},
    {MSLITE_OP_BatchToSpaceND, WhyNotMap, PlanMap},
    {MSLITE_OP_SpaceToBatch, WhyNotMap, PlanMap},
    {MSLITE_OP_SpaceToBatchND, WhyNotMap, PlanMap},
    {MSLITE_OP_ReverseSequence, WhyNotMap, PlanMap},
    {MSLITE_OP_Splice, WhyNotMap, PlanMap},
    {MSLITE_OP_GatherD, WhyNotMap, PlanMap},
    {MSLITE_OP_PadFusion, WhyNotPad, PlanPad},
    {MSLITE_OP_Concat, WhyNotJoin, PlanJoin},
    {MSLITE_OP_Stack, WhyNotJoin, PlanJoin},
    {MSLITE_OP_Split, WhyNotJoin, PlanJoin},
    {MSLITE_OP_Unstack, WhyNotJoin, PlanJoin},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClMovement() { return kMovementOperators; }
}  // namespace mslite
