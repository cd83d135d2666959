#include "opencl/opencl_float32_tensors.h"

#include <algorithm>
#include <cmath>

#include "opencl/opencl_plan.h"
#include "plan/half_precision.h"

namespace mslite {
namespace {
// Returns how a node behaves in float16. Nodes that do not run on the device are computed in float32 and may have
// values of any size.
HalfPrecision PrecisionOf(const Part &whole, const Part::Node &node, const RunsOnDevice &runs) {
  const HalfPrecision unknown = {HalfPrecision::kGrown, kAllExact};
  const auto is_open = [&](int32_t tensor) { return !HasShape(whole.tensors[static_cast<size_t>(tensor)].value); };
  const bool is_known = node.params != nullptr && std::none_of(node.inputs.begin(), node.inputs.end(), is_open) &&
                        std::none_of(node.outputs.begin(), node.outputs.end(), is_open);
  if (!is_known) return unknown;
  const Part::Call call(whole, node);
  return runs(call.node()) ? HalfPrecisionOf(call.node()) : unknown;
}

// Returns the largest absolute value in calibration, or the largest value that 8 bits with the tensor's scale can
// store; negative if the tensor has no quantization parameters.
double SeenIn(const mindspore::MSTensor &tensor) {
  double largest = -1;
  for (const mindspore::QuantParam &record : tensor.QuantParams()) {
    const double seen = std::max(std::fabs(record.min), std::fabs(record.max));
    largest = std::max(largest, seen > 0 ? seen : 255 * std::fabs(record.scale));
  }
  return largest;
}
}  // namespace

std::vector<size_t> Float32TensorsOf(const Part &whole, const RunsOnDevice &runs) {
  std::vector<HalfTensor> tensors;
  for (const Part::Tensor &tensor : whole.tensors) tensors.push_back({&tensor.value, SeenIn(tensor.source)});
  std::vector<HalfNode> nodes;
  for (const Part::Node &node : whole.nodes) {
    nodes.push_back({node.inputs, node.outputs, PrecisionOf(whole, node, runs)});
  }
  const std::vector<bool> is_float32 = FindFloat32Tensors(tensors, nodes);
  std::vector<size_t> found;
  for (size_t i = 0; i < is_float32.size(); ++i) {
    if (is_float32[i]) found.push_back(i);
  }
  return found;
}
}  // namespace mslite
