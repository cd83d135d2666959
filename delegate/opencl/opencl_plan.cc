#include "opencl/opencl_plan.h"

#include <cstring>
#include <iterator>

#include "opencl/operators/families.h"

namespace mslite {
namespace {
template <typename Number>
std::vector<uint8_t> BytesOfNumbers(const std::vector<Number> &numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(Number));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}
}  // namespace

OpenClOperand OpenClPlan::Add(OpenClConstant constant) {
  constants_.push_back(std::move(constant));
  return {OpenClOperand::kConstant, static_cast<int32_t>(constants_.size()) - 1};
}

OpenClOperand OpenClPlan::Weights(std::vector<float> numbers, int64_t row) {
  return Add({{}, std::move(numbers), row});
}

OpenClOperand OpenClPlan::Reals(const std::vector<float> &numbers) { return Add({BytesOfNumbers(numbers), {}, 0}); }

OpenClOperand OpenClPlan::Integers(const std::vector<int64_t> &numbers) {
  return Add({BytesOfNumbers(std::vector<int32_t>(numbers.begin(), numbers.end())), {}, 0});
}

OpenClLaunch &OpenClLaunch::Activate(int64_t kind, const std::string &alpha, const std::string &low,
                                     const std::string &high) {
  formula.activation = std::to_string(kind) + ", " + alpha + ", " + low + ", " + high;
  return Define("ACTIVATION", kind).Define("ALPHA", alpha).Define("LOW", low).Define("HIGH", high);
}

void OpenClPlan::Absorb(OpenClPlan *other) {
  const auto constants = static_cast<int32_t>(constants_.size());
  const auto scratch = static_cast<int32_t>(scratch_.size());
  for (OpenClLaunch &launch : other->launches_) {
    for (OpenClLaunch::Argument &argument : launch.arguments) {
      if (argument.operand.place == OpenClOperand::kConstant) argument.operand.index += constants;
      if (argument.operand.place == OpenClOperand::kScratch) argument.operand.index += scratch;
    }
  }
  const auto move = [](auto *to, auto *from) {
    to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
    from->clear();
  };
  move(&constants_, &other->constants_);
  move(&scratch_, &other->scratch_);
  std::swap(launches_, other->launches_);
  move(&launches_, &other->launches_);
}

OpenClLaunch &OpenClPlan::Launch(const char *file, const char *function) {
  OpenClLaunch &launch = launches_.emplace_back();
  launch.file = file;
  launch.function = function;
  return launch;
}

const OpenClOperator *FindOpenClOperator(int32_t op) {
  for (const OpenClFamily family : kOpenClFamilies) {
    for (const OpenClOperator *entry = family(); entry->plan != nullptr; ++entry) {
      if (entry->op == op) return entry;
    }
  }
  return nullptr;
}

const char *OpenClType(int32_t type) {
  switch (type) {
    case MSLITE_FLOAT32:
      return "float";
    case MSLITE_INT32:
      return "int";
    case MSLITE_INT64:
      return "long";
    case MSLITE_BOOL:
    case MSLITE_UINT8:
      return "uchar";
    case MSLITE_INT8:
      return "char";
    case MSLITE_INT16:
      return "short";
    case MSLITE_UINT16:
      return "ushort";
    case MSLITE_UINT32:
      return "uint";
    case MSLITE_UINT64:
      return "ulong";
    default:
      return nullptr;
  }
}

int64_t CountOf(const mslite_tensor &tensor) { return mslite_element_count(&tensor); }

int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::string WhyNotReal(const mslite_node &node) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i]->type != MSLITE_FLOAT32) return "an input is not float32";
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (node.outputs[i]->type != MSLITE_FLOAT32) return "an output is not float32";
  }
  return "";
}

std::vector<float> RealsOf(const mslite_tensor &tensor) {
  std::vector<float> numbers;
  if (tensor.data == nullptr || tensor.type != MSLITE_FLOAT32) return numbers;
  numbers.resize(static_cast<size_t>(CountOf(tensor)));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.data, numbers.size() * sizeof(float));
  return numbers;
}

bool HasInput(const mslite_node &node, int32_t index) { return index < node.input_count; }
}  // namespace mslite
