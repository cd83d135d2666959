#include "opencl/opencl_storage.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "opencl/opencl_plan.h"

namespace mslite {
namespace {
constexpr float kLargest = 65504;                 // that float16 has
constexpr float kLeastNormal = 1.0f / (1 << 14);  // smaller ones have fewer bits
constexpr double kMargin = 2;                     // calibration has seen some inputs, not all

// The tensors of a model that float16 does not do for.
class Islands {
 public:
  explicit Islands(const Part &whole) : whole_(whole), sizes_(whole.tensors.size()), exact_(whole.tensors.size()) {
    for (size_t i = 0; i < whole.tensors.size(); ++i) ReadConstant(i);
    for (const Part::Node &node : whole.nodes) Follow(node);
    for (auto node = whole.nodes.rbegin(); node != whole.nodes.rend(); ++node) AskFor(*node);
  }
  bool has(size_t tensor) const { return exact_[tensor] || sizes_[tensor] != kFits; }

 private:
  enum Size { kFits, kGrown, kBeyond };  // kBeyond: meant to be, as the constants of masks are

  static OpenClPrecision PrecisionOf(const mslite_node &node) {
    const OpenClOperator *entry = FindOpenClOperator(node.op);
    if (entry == nullptr) return {OpenClPrecision::kGrown, kAllExact};
    return entry->precision == nullptr ? OpenClPrecision() : entry->precision(node);
  }

  void ReadConstant(size_t index) {
    const std::vector<float> numbers = RealsOf(whole_.tensors[index].value);
    if (FitsHalf(numbers.data(), numbers.size())) return;
    exact_[index] = true;
    const bool is_large = std::any_of(numbers.begin(), numbers.end(), [](float number) {
      return std::isfinite(number) && std::fabs(number) > kLargest;
    });
    if (is_large) sizes_[index] = kBeyond;
  }

  // By its operands, in the order in which nodes run.
  void Follow(const Part::Node &node) {
    if (node.params == nullptr) return;
    const Part::Call call(whole_, node);
    const OpenClPrecision::Results results = PrecisionOf(call.node()).results;
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
  void AskFor(const Part::Node &node) {
    if (node.params == nullptr) return;
    const Part::Call call(whole_, node);
    const OpenClPrecision precision = PrecisionOf(call.node());
    const bool moves_exact = precision.results == OpenClPrecision::kMoved &&
                             std::any_of(node.outputs.begin(), node.outputs.end(),
                                         [&](int32_t output) { return exact_[static_cast<size_t>(output)]; });
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_asked = i < 32 && (precision.exact >> i & 1) != 0;
      if (moves_exact || is_asked) exact_[static_cast<size_t>(node.inputs[i])] = true;
    }
  }

  const Part &whole_;
  std::vector<Size> sizes_;
  std::vector<bool> exact_;
};

uint16_t HalfOf(float number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // not a number
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;  // 65536 and more
  } else if (magnitude < 0x33000000u) {
    half = 0;  // below half of the least one
  } else {
    const uint32_t exponent = magnitude >> 23;
    // Below 2^-14 bits are lost: the numbers there are multiples of 2^-24.
    const uint32_t lost = exponent < 113 ? 126 - exponent : 13;
    const uint32_t mantissa = exponent < 113 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    const uint32_t rest = mantissa & ((1u << lost) - 1);
    const uint32_t middle = 1u << (lost - 1);
    half = mantissa >> lost;
    if (rest > middle || (rest == middle && (half & 1) != 0)) ++half;  // into the next exponent, too
  }
  return static_cast<uint16_t>(sign | half);
}
}  // namespace

std::string DefineOperand(const std::string &name, const char *type, OpenClForm form) {
  constexpr const char *kNames[] = {"array", "half", "image"};
  return "#define TYPE_" + name + " " + type + "\n#define FORM_" + name + " " + kNames[static_cast<int>(form)] + "\n";
}

int64_t BytesPerElement(OpenClForm form, int32_t type) {
  return form == OpenClForm::kHalf ? 2 : mslite_type_size(type);
}

std::vector<uint8_t> RoundToHalf(const float *numbers, size_t count) {
  std::vector<uint8_t> bytes(count * sizeof(uint16_t));
  for (size_t i = 0; i < count; ++i) {
    const uint16_t half = HalfOf(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return bytes;
}

bool FitsHalf(const float *numbers, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::isfinite(numbers[i])) largest = std::max(largest, std::fabs(numbers[i]));
  }
  return largest == 0 || (largest >= kLeastNormal && largest <= kLargest);
}

Status OpenClStorage::ChooseImages(const OpenClDevice::Limits &limits) {
  const char *wanted = std::getenv("MSLITE_OPENCL_STORAGE");
  const std::string storage = wanted != nullptr ? wanted : limits.prefers_images ? "image" : "buffer";
  if (storage != "image" && storage != "buffer") {
    return Fail(mindspore::kLiteParamInvalid,
                "OpenCL: MSLITE_OPENCL_STORAGE is '" + storage + "'; it can be 'buffer' or 'image'");
  }
  has_images_ = storage == "image" && limits.image_width > 0;
  return mindspore::kSuccess;
}

void OpenClStorage::Study(const Part &whole) {
  exact_.clear();
  if (!is_half_) return;
  const Islands islands(whole);
  for (size_t i = 0; i < whole.tensors.size(); ++i) {
    if (islands.has(i)) exact_.insert(whole.tensors[i].source.impl().get());
  }
}

std::vector<OpenClForm> OpenClStorage::FormsOf(const Part &part, const std::vector<int32_t> &roots) const {
  std::vector<OpenClForm> forms(part.tensors.size(), OpenClForm::kArray);
  if (!is_half_) return forms;
  std::fill(forms.begin(), forms.end(), OpenClForm::kHalf);
  const auto stay = [&](size_t tensor) { forms[static_cast<size_t>(roots[tensor])] = OpenClForm::kArray; };
  for (size_t i = 0; i < forms.size(); ++i) {
    const Part::Tensor &tensor = part.tensors[i];
    if (tensor.value.type != MSLITE_FLOAT32 || exact_.count(tensor.source.impl().get()) != 0) stay(i);
  }
  // What crosses the border of the part is float32: its first kernels round, and its last ones do not.
  for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
    for (const int32_t tensor : *border) stay(static_cast<size_t>(tensor));
  }
  for (size_t i = 0; i < forms.size(); ++i) forms[i] = forms[static_cast<size_t>(roots[i])];
  return forms;
}

OpenClForm OpenClStorage::FormOfWeights(const std::vector<float> &numbers) const {
  return is_half_ && FitsHalf(numbers.data(), numbers.size()) ? OpenClForm::kHalf : OpenClForm::kArray;
}
}  // namespace mslite
