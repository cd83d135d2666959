#include "phones/reference_call.h"

#include <climits>
#include <cmath>
#include <cstring>

#include "plan/cpu_features.h"
#include "plan/single_node.h"

namespace mslite::test {
namespace {
constexpr int32_t kQuantized = MSLITE_QUANT_TYPE_QUANT_ALL;

mslite_tensor View(const CallTensor &tensor) {
  mslite_tensor view = UnknownTensor();
  view.type = tensor.type;
  view.rank = static_cast<int32_t>(tensor.dims.size());
  for (int32_t i = 0; i < view.rank; ++i) view.dims[i] = tensor.dims[static_cast<size_t>(i)];
  view.data = tensor.contents;
  view.quant = tensor.quant.data();
  view.quant_count = static_cast<int32_t>(tensor.quant.size());
  return view;
}

std::string Text(const CallTensor &tensor) {
  std::string text = "type " + std::to_string(tensor.type) + " [";
  for (const int64_t dim : tensor.dims) text += std::to_string(dim) + " ";
  return text + "]";
}

long calls = 0;
long first_failing = LONG_MAX;
long last_failing = LONG_MAX;
}  // namespace

mslite_longs ReferenceCall::List(std::vector<int64_t> numbers) {
  const std::vector<int64_t> &kept = lists_.emplace_back(std::move(numbers));
  return {static_cast<int32_t>(kept.size()), kept.data()};
}

const void *ReferenceCall::Keep(std::vector<uint8_t> bytes) { return kept_.emplace_back(std::move(bytes)).data(); }

CallTensor ReferenceCall::Integers(const std::vector<int32_t> &numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {MSLITE_INT32, {static_cast<int64_t>(numbers.size())}, {}, Keep(std::move(bytes)), true};
}

std::string ReferenceCall::Check() const {
  std::vector<mslite_tensor> operands;
  for (const CallTensor &input : inputs) {
    operands.push_back(View(input));
    FillKnown(&operands.back());
  }
  std::vector<const mslite_tensor *> pointers;
  for (const mslite_tensor &operand : operands) pointers.push_back(&operand);
  std::vector<mslite_tensor> results(outputs.size(), UnknownTensor());
  int64_t next_symbol = MSLITE_SYMBOL_LIMIT - 1;
  if (Outcome outcome = InferShapes(op_, params_.get(), pointers, &results, &next_symbol); !outcome.ok()) {
    return outcome.message;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A single number is a tensor of one here.
    std::vector<int64_t> dims(results[i].dims, results[i].dims + results[i].rank);
    if (dims.empty()) dims.push_back(1);
    if (dims != outputs[i].dims) {
      return "output " + std::to_string(i) + " is declared as " + Text(outputs[i]) + ", and is " +
             Text({results[i].type, dims, {}, nullptr, false});
    }
    if (outputs[i].quant.empty() && results[i].type != outputs[i].type) return "an output of another type";
  }
  return "";
}

std::string ReferenceCall::Run(const std::vector<void *> &targets) const {
  std::vector<SingleInput> operands;
  for (const CallTensor &input : inputs) operands.push_back({View(input), input.is_constant});
  SingleNode node(op_, params_.get(), std::move(operands), static_cast<int32_t>(outputs.size()));
  std::vector<mslite_tensor> declared;
  for (const CallTensor &output : outputs) declared.push_back(View(output));
  node.DeclareOutputs(declared, is_quantized ? kQuantized : 0);
  Outcome outcome = node.Prepare(DetectedIsas());
  if (outcome.ok()) outcome = node.Run(targets);
  return outcome.ok() ? "" : outcome.message;
}

int64_t BytesOf(const CallTensor &tensor) {
  int64_t bytes = mslite_type_size(tensor.type);
  for (const int64_t dim : tensor.dims) bytes *= dim;
  return bytes;
}

std::vector<uint8_t> EndsExchanged(const void *contents, int64_t a, int64_t b, int64_t c, int64_t bytes) {
  std::vector<uint8_t> moved(static_cast<size_t>(a * b * c * bytes));
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j) {
      for (int64_t k = 0; k < c; ++k) {
        std::memcpy(moved.data() + ((k * b + j) * a + i) * bytes,
                    static_cast<const uint8_t *>(contents) + ((i * b + j) * c + k) * bytes, static_cast<size_t>(bytes));
      }
    }
  }
  return moved;
}

void RoundToHalf(float *numbers, int64_t count) {
  constexpr float kLargest = 65504;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) continue;
    int exponent = 0;
    std::frexp(numbers[i], &exponent);
    const float step = std::ldexp(1.0f, std::max(exponent - 11, -24));
    numbers[i] = std::nearbyint(numbers[i] / step) * step;
    if (std::fabs(numbers[i]) > kLargest) numbers[i] = std::copysign(INFINITY, numbers[i]);
  }
}

bool MustFail() {
  ++calls;
  return calls >= first_failing && calls <= last_failing;
}
}  // namespace mslite::test

// Calls [first, last] fail, counted from now on; the first is number 1. Returns how many there were since the last
// time.
extern "C" __attribute__((visibility("default"))) long fail_calls(long first, long last);
extern "C" long fail_calls(long first, long last) {
  using namespace mslite::test;  // NOLINT
  const long counted = calls;
  calls = 0;
  first_failing = first;
  last_failing = last;
  return counted;
}
