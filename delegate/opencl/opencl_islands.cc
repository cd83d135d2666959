#include "opencl/opencl_islands.h"

#include <algorithm>
#include <cmath>

#include "opencl/opencl_plan.h"

namespace mslite {
namespace {
constexpr float kLargest = 65504;                 // that float16 has
constexpr float kLeastNormal = 1.0f / (1 << 14);  // smaller ones have fewer bits
constexpr double kMargin = 2;                     // calibration has seen some inputs, not all

// Magnitude of those that are finite.
float LargestOf(const float *numbers, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(numbers[i])) largest = std::max(largest, std::fabs(numbers[i]));
  }
  return largest;
}

// The tensors of a model that float16 does not do for.
class Islands {
 public:
  Islands(const Part &whole, const RunsOnDevice &runs)
      : whole_(whole), sizes_(whole.tensors.size()), exact_(whole.tensors.size()) {
    for (size_t i = 0; i < whole.tensors.size(); ++i) ReadConstant(i);
    for (const Part::Node &node : whole.nodes) precisions_.push_back(PrecisionOf(node, runs));
    for (size_t i = 0; i < whole.nodes.size(); ++i) Follow(whole.nodes[i], precisions_[i].results);
    for (size_t i = whole.nodes.size(); i-- > 0;) AskFor(whole.nodes[i], precisions_[i]);
  }
  bool has(size_t tensor) const { return exact_[tensor] || sizes_[tensor] != kFits; }

 private:
  enum Size { kFits, kGrown, kBeyond };  // kBeyond: meant to be, as the constants of masks are

  // What the device does not run is computed in float32, and may be anything.
  OpenClPrecision PrecisionOf(const Part::Node &node, const RunsOnDevice &runs) const {
    const auto is_open = [&](int32_t tensor) { return !HasShape(whole_.tensors[static_cast<size_t>(tensor)].value); };
    const bool is_known = node.params != nullptr && std::none_of(node.inputs.begin(), node.inputs.end(), is_open) &&
                          std::none_of(node.outputs.begin(), node.outputs.end(), is_open);
    if (!is_known) return {OpenClPrecision::kGrown, kAllExact};
    const Part::Call call(whole_, node);
    if (!runs(call.node())) return {OpenClPrecision::kGrown, kAllExact};
    const OpenClOperator *entry = FindOpenClOperator(node.op);
    return entry == nullptr || entry->precision == nullptr ? OpenClPrecision() : entry->precision(call.node());
  }

  void ReadConstant(size_t index) {
    const mslite_tensor &value = whole_.tensors[index].value;
    if (value.type != MSLITE_FLOAT32 || value.data == nullptr) return;
    const auto *numbers = static_cast<const float *>(value.data);
    const auto count = static_cast<size_t>(CountOf(value));
    exact_[index] = !FitsHalf(numbers, count);
    if (LargestOf(numbers, count) > kLargest) sizes_[index] = kBeyond;
  }

  // By its operands, in the order in which nodes run.
  void Follow(const Part::Node &node, OpenClPrecision::Results results) {
    for (const int32_t output : node.outputs) {
      const auto index = static_cast<size_t>(output);
      const Part::Tensor &tensor = whole_.tensors[index];
      if (tensor.value.type != MSLITE_FLOAT32) continue;
      Size size = results == OpenClPrecision::kGrown ? kGrown : kFits;
      for (const int32_t input : node.inputs) {
        const Size own = sizes_[static_cast<size_t>(input)];
        const bool counts = results == OpenClPrecision::kMoved || own == kBeyond ||
                            CountOf(whole_.tensors[static_cast<size_t>(input)].value) >= CountOf(tensor.value);
        if (results != OpenClPrecision::kFresh && counts) size = std::max(size, own);
      }
      const std::vector<mindspore::QuantParam> records = tensor.source.QuantParams();
      sizes_[index] = records.empty() ? size : SizeOf(records);
    }
  }

  // By what calibration has seen, or what 8 bits of the record's scale reach.
  static Size SizeOf(const std::vector<mindspore::QuantParam> &records) {
    const bool is_large = std::any_of(records.begin(), records.end(), [](const mindspore::QuantParam &record) {
      const double seen = std::max(std::fabs(record.min), std::fabs(record.max));
      return (seen > 0 ? seen : 255 * std::fabs(record.scale)) * kMargin > kLargest;
    });
    return is_large ? kBeyond : kFits;
  }

  // What a node must read as it was computed, behind nodes that only move it.
  void AskFor(const Part::Node &node, const OpenClPrecision &precision) {
    const bool moves_exact = precision.results == OpenClPrecision::kMoved &&
                             std::any_of(node.outputs.begin(), node.outputs.end(),
                                         [&](int32_t output) { return exact_[static_cast<size_t>(output)]; });
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_asked = i < 32 && (precision.exact >> i & 1) != 0;
      if (moves_exact || is_asked) exact_[static_cast<size_t>(node.inputs[i])] = true;
    }
  }

  const Part &whole_;
  std::vector<OpenClPrecision> precisions_;  // of nodes
  std::vector<Size> sizes_;                  // of tensors
  std::vector<bool> exact_;
};

}  // namespace

bool FitsHalf(const float *numbers, size_t count) {
  const float largest = LargestOf(numbers, count);
  return largest == 0 || (largest >= kLeastNormal && largest <= kLargest);
}

std::vector<size_t> FindIslands(const Part &whole, const RunsOnDevice &runs) {
  const Islands islands(whole, runs);
  std::vector<size_t> found;
  for (size_t i = 0; i < whole.tensors.size(); ++i) {
    if (islands.has(i)) found.push_back(i);
  }
  return found;
}
}  // namespace mslite
