// Resize and ResizeND along at most two dimensions, with the taps of the CPU's kernels.
#include <algorithm>

#include "engine/attributes.h"
#include "opencl/operators/families.h"
#include "resize/taps.h"

namespace mslite {
namespace {
// Returns true if the number of taps per output element is within the limit.
bool HasFewTaps(const mslite_node &node, const Resized &resized) {
  return std::all_of(resized.axes.begin(), resized.axes.end(), [&](int32_t axis) {
    const float scale = mslite_resize_scale(&resized.plan, axis, node.inputs[0]->dims[axis], resized.plan.out[axis]);
    return mslite_resize_taps(&resized.plan, scale) <= MSLITE_MAX_TAPS;
  });
}

std::string WhyNotResize(const mslite_node &node) {
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32)
    return "an input is not float32";
  Resized resized;
  if (!ReadResize(node, &resized)) return "the sizes are not constant";
  if (!HasFewTaps(node, resized)) return "an output element depends on too many input elements";
  return resized.axes.size() > 2 ? "more than two dimensions change" : "";
}

// Appends the input indices and weights of each output element along `axis`; of a single element if `axis` is negative.
// Returns the number of taps per output element.
int32_t Taps(const mslite_node &node, const mslite_resize_plan &plan, int32_t axis, std::vector<int64_t> *indices,
             std::vector<float> *weights) {
  if (axis < 0) {
    indices->push_back(0);
    weights->push_back(1.0f);
    return 1;
  }
  const int64_t in = node.inputs[0]->dims[axis];
  const int64_t out = plan.out[axis];
  const int32_t taps = mslite_resize_taps(&plan, mslite_resize_scale(&plan, axis, in, out));
  std::vector<int32_t> index(static_cast<size_t>(taps));
  std::vector<float> weight(static_cast<size_t>(taps));
  for (int64_t at = 0; at < out; ++at) {
    const int32_t found = mslite_resize_taps_at(&plan, axis, in, out, at, taps, index.data(), weight.data());
    for (size_t i = 0; i < index.size(); ++i) {
      indices->push_back(found == 0 ? -1 : index[i]);
      weights->push_back(found == 0 ? 0.0f : weight[i]);
    }
  }
  return taps;
}

void PlanResize(OpenClPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &x = *node.inputs[0];
  Resized resized;
  ReadResize(node, &resized);
  const int32_t first = resized.axes.empty() ? -1 : resized.axes.front();
  const int32_t second = resized.axes.size() < 2 ? -1 : resized.axes.back();
  std::vector<int64_t> indices[2];
  std::vector<float> weights[2];
  const int32_t taps_h = Taps(node, resized.plan, first, &indices[0], &weights[0]);
  const int32_t taps_w = Taps(node, resized.plan, second, &indices[1], &weights[1]);
  const OpenClOperand rows = plan->Integers(indices[0]);
  const OpenClOperand row_weights = plan->Reals(weights[0]);
  const OpenClOperand columns = plan->Integers(indices[1]);
  const OpenClOperand column_weights = plan->Reals(weights[1]);
  // x is [outer, height, middle, width, inner]; if only one dimension is resized, middle and width are 1.
  int64_t middle = 1;
  int64_t inner = 1;
  for (int32_t i = first + 1; i < x.rank; ++i) {
    if (second >= 0 && i < second) middle *= x.dims[i];
    if (second < 0 || i > second) inner *= x.dims[i];
  }
  const int64_t count = CountOf(*node.outputs[0]);
  OpenClLaunch &launch = plan->Launch("resize", "resize");
  launch.Input("x", plan->Input(0)).Output("y", plan->Output()).Buffer(rows).Buffer(row_weights);
  launch.Buffer(columns).Buffer(column_weights).Integer(first < 0 ? 1 : x.dims[first]).Integer(middle);
  launch.Integer(second < 0 ? 1 : x.dims[second]).Integer(first < 0 ? CountOf(x) : inner);
  launch.Integer(first < 0 ? 1 : resized.plan.out[first]).Integer(second < 0 ? 1 : resized.plan.out[second]);
  launch.Integer(taps_h).Integer(taps_w).Real(resized.plan.extrapolation_value).Integer(count).Items(count);
  const int64_t taps = taps_h * int64_t{taps_w} * count;
  launch.Touches(0, taps).Touches(2, taps).Touches(3, taps_h * count).Touches(4, taps).Touches(5, taps);
}

constexpr OpenClOperator kResizeOperators[] = {
    {MSLITE_OP_Resize, WhyNotResize, PlanResize},
    {MSLITE_OP_ResizeND, WhyNotResize, PlanResize},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClResize() { return kResizeOperators; }
}  // namespace mslite
