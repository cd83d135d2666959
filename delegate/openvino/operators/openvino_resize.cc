// Resize and ResizeND: OpenVINO's Interpolate if it computes the same result, else weighted sums of input elements as
// in the CPU's kernels.
#include <cmath>

#include "openvino/operators/families.h"
#include "resize/taps.h"

namespace mslite {
namespace {
// Input indices and weights along a dimension, for each tap of the window.
struct Taps {
  std::vector<std::vector<int32_t>> indices;
  std::vector<std::vector<float>> weights;
};

bool TapsOf(const mslite_node &node, const mslite_resize_plan &plan, int32_t axis, Taps *taps) {
  constexpr int32_t kMost = 16;  // each tap is a pass over the image
  const int64_t in = node.inputs[0]->dims[axis];
  const int64_t out = plan.out[axis];
  const int32_t count = mslite_resize_taps(&plan, mslite_resize_scale(&plan, axis, in, out));
  if (count > kMost) return false;
  taps->indices.assign(static_cast<size_t>(count), {});
  taps->weights.assign(static_cast<size_t>(count), {});
  std::vector<int32_t> index(static_cast<size_t>(count));
  std::vector<float> weight(static_cast<size_t>(count));
  for (int64_t at = 0; at < out; ++at) {
    if (mslite_resize_taps_at(&plan, axis, in, out, at, count, index.data(), weight.data()) == 0) return false;
    for (size_t i = 0; i < index.size(); ++i) {
      taps->indices[i].push_back(index[i]);
      taps->weights[i].push_back(weight[i]);
    }
  }
  return true;
}

std::string WhyNotResize(const mslite_node &node) {
  if (node.inputs[0]->type != MSLITE_FLOAT32 || node.outputs[0]->type != MSLITE_FLOAT32) {
    return "an input is not float32";
  }
  Resized resized;
  if (!ReadResize(node, &resized)) return "the sizes are not constant";
  for (const int32_t axis : resized.axes) {
    Taps taps;
    if (!TapsOf(node, resized.plan, axis, &taps))
      return "elements outside of the image, or too many for one output element";
  }
  return "";
}

// Returns OpenVINO's name for the coordinate transformation; null if it has no equivalent.
const char *CoordinatesOf(const mslite_resize_plan &plan) {
  switch (plan.coordinates) {
    case RESIZE_ASYMMETRIC:
      return "asymmetric";
    case RESIZE_ALIGN_CORNERS:
      return "align_corners";
    case RESIZE_HALF_PIXEL:
      return "half_pixel";
    case RESIZE_PYTORCH_HALF_PIXEL:
      return "pytorch_half_pixel";
    default:
      return nullptr;
  }
}

bool IsLinearImage(const mslite_node &node, const Resized &resized) {
  const mslite_resize_plan &plan = resized.plan;
  if (plan.method != MSLITE_RESIZE_METHOD_LINEAR || plan.antialias != 0 || CoordinatesOf(plan) == nullptr) return false;
  if (node.inputs[0]->rank != 4 || resized.axes.size() != 2 || resized.axes[1] != resized.axes[0] + 1) return false;
  if (resized.axes[0] != 1 && resized.axes[0] != 2) return false;
  for (const int32_t axis : resized.axes) {
    // OpenVINO computes the scale as the quotient of the sizes.
    const float given = plan.scale[axis] * static_cast<float>(node.inputs[0]->dims[axis]);
    if (given > 0 && std::fabs(given - static_cast<float>(plan.out[axis])) > 1e-4f) return false;
  }
  return true;
}

void PlanResize(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  Resized resized;
  ReadResize(node, &resized);
  if (IsLinearImage(node, resized)) {
    const bool is_last = resized.axes[0] == 1;  // the channels
    const std::vector<int64_t> sizes = {resized.plan.out[resized.axes[0]], resized.plan.out[resized.axes[1]]};
    const OpenVinoValue y = plan->Layer(
        "Interpolate", {is_last ? plan->Image(0) : plan->Input(0), plan->Integers(sizes), plan->Integers({2, 3})},
        {{"mode", "linear_onnx"},
         {"shape_calculation_mode", "sizes"},
         {"coordinate_transformation_mode", CoordinatesOf(resized.plan)},
         {"nearest_mode", "round_prefer_floor"},
         {"antialias", "false"},
         {"pads_begin", "0,0,0,0"},
         {"pads_end", "0,0,0,0"},
         {"cube_coeff", "-0.75"}},
        "opset11");
    if (is_last) {
      plan->GiveImage(y);
    } else {
      plan->Give(y);
    }
    return;
  }
  OpenVinoValue x = plan->Input(0);
  for (const int32_t axis : resized.axes) {
    Taps taps;
    TapsOf(node, resized.plan, axis, &taps);
    OpenVinoIr::Dims dims(static_cast<size_t>(node.inputs[0]->rank - axis), 1);
    dims[0] = resized.plan.out[axis];
    OpenVinoValue sum;
    for (size_t i = 0; i < taps.indices.size(); ++i) {
      OpenVinoValue term = plan->Layer("Gather", {x, plan->Indices(taps.indices[i]), plan->Integer(axis)},
                                       {{"batch_dims", "0"}}, "opset8");
      if (resized.plan.method != MSLITE_RESIZE_METHOD_NEAREST) {
        term = plan->Binary("Multiply", term, plan->Reals(dims, taps.weights[i]));
      }
      sum = i == 0 ? term : plan->Binary("Add", sum, term);
    }
    x = sum;
  }
  plan->Give(x);
}

constexpr OpenVinoOperator kResizeOperators[] = {
    {MSLITE_OP_Resize, WhyNotResize, PlanResize},
    {MSLITE_OP_ResizeND, WhyNotResize, PlanResize},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoResize() { return kResizeOperators; }
}  // namespace mslite
