#include "opencl/opencl_storage.h"

#include <cstring>

namespace mslite {
namespace {
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
  const char *const form_name = form == OpenClForm::kHalf ? "half" : "array";
  return "#define TYPE_" + name + " " + type + "\n#define FORM_" + name + " " + form_name + "\n";
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

std::vector<OpenClForm> ChooseForms(const Part &part, const std::vector<int32_t> &roots) {
  std::vector<OpenClForm> forms(part.tensors.size(), OpenClForm::kHalf);
  for (size_t i = 0; i < forms.size(); ++i) {
    if (part.tensors[i].value.type != MSLITE_FLOAT32) forms[i] = OpenClForm::kArray;
  }
  // What crosses the border of the part is float32: its first kernels round, and its last ones do not.
  for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
    for (const int32_t tensor : *border) {
      forms[static_cast<size_t>(roots[static_cast<size_t>(tensor)])] = OpenClForm::kArray;
    }
  }
  for (size_t i = 0; i < forms.size(); ++i) forms[i] = forms[static_cast<size_t>(roots[i])];
  return forms;
}
}  // namespace mslite
