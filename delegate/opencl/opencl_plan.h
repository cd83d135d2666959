// What an operator needs to run on the device: launches of kernels, and their operands.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PLAN_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PLAN_H

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"

namespace mslite {
// Memory that a launch reads or writes.
struct OpenClOperand {
  enum Place { kTensor, kScratch, kConstant, kFault } place = kTensor;
  int32_t index = 0;
};

// How a kernel reads or writes an operand. What all of them access by fours may be an image.
struct OpenClAccess {
  bool is_in_fours = false;  // by load4 and load4_of_row, by store4 and store_some of four, from multiples of four on
  int64_t row = 0;           // elements of a row of load4_of_row; 0: none

  static OpenClAccess Fours() { return {true, 0}; }
  static OpenClAccess Rows(int64_t row) { return {true, row}; }
};

// An enqueued kernel.
struct OpenClLaunch {
  struct Argument {
    bool is_buffer = false;
    OpenClOperand operand;
    std::string name;  // in the kernel, which then reads or writes it by the words of kernels/gpu/common.cl
    bool is_output = false;
    OpenClAccess access;
    int32_t integer = 0;
    float real = 0;
    bool is_real = false;
  };

  std::string file;  // of kernels/gpu, without its ending
  std::string function;
  std::string defines;
  std::vector<Argument> arguments;
  std::array<size_t, 3> global = {1, 1, 1};
  size_t group = 0;  // work items of a group along the first dimension; 0: the driver chooses

  OpenClLaunch &Define(const char *name, const std::string &value) {
    defines += std::string("#define ") + name + " " + value + "\n";
    return *this;
  }
  OpenClLaunch &Define(const char *name, int64_t value) { return Define(name, std::to_string(value)); }
  // INPUT(name) and OUTPUT(name) in the kernel's list of parameters: tensors and weights, in whatever form memory has
  // them.
  OpenClLaunch &Input(const char *name, OpenClOperand operand, OpenClAccess access = {}) {
    Buffer(operand);
    arguments.back().name = name;
    arguments.back().access = access;
    return *this;
  }
  OpenClLaunch &Output(const char *name, OpenClOperand operand, OpenClAccess access = {}) {
    Input(name, operand, access);
    arguments.back().is_output = true;
    return *this;
  }
  // A plain array: what Integers and Reals give, and Fault.
  OpenClLaunch &Buffer(OpenClOperand operand) {
    Argument argument;
    argument.is_buffer = true;
    argument.operand = operand;
    arguments.push_back(argument);
    return *this;
  }
  OpenClLaunch &Integer(int64_t value) {
    Argument argument;
    argument.integer = static_cast<int32_t>(value);
    arguments.push_back(argument);
    return *this;
  }
  OpenClLaunch &Real(double value) {
    Argument argument;
    argument.is_real = true;
    argument.real = static_cast<float>(value);
    arguments.push_back(argument);
    return *this;
  }
  OpenClLaunch &Items(int64_t first, int64_t second = 1, int64_t third = 1) {
    global = {static_cast<size_t>(first), static_cast<size_t>(second), static_cast<size_t>(third)};
    return *this;
  }
  // One group of `items` work items for each of `groups`.
  OpenClLaunch &Groups(int64_t groups, int64_t items) {
    group = static_cast<size_t>(items);
    return Items(groups * items);
  }
};

// Numbers that a plan has made.
struct OpenClConstant {
  std::vector<uint8_t> bytes;  // a plain array
  std::vector<float> weights;  // else: in rows of so many
  int64_t row = 0;
};

// The launches of one node. Launches run in their order.
class OpenClPlan {
 public:
  OpenClPlan(const mslite_node &node, const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs)
      : node_(node), inputs_(inputs), outputs_(outputs) {}

  const mslite_node &node() const { return node_; }
  OpenClOperand Input(int32_t index) const { return {OpenClOperand::kTensor, inputs_[static_cast<size_t>(index)]}; }
  OpenClOperand Output(int32_t index = 0) const {
    return {OpenClOperand::kTensor, outputs_[static_cast<size_t>(index)]};
  }
  // Memory for real numbers between launches of the node.
  OpenClOperand Scratch(int64_t count) {
    scratch_.push_back(count);
    return {OpenClOperand::kScratch, static_cast<int32_t>(scratch_.size()) - 1};
  }
  // An int that a launch sets to 1 where it meets an impossible value.
  OpenClOperand Fault() {
    has_fault_ = true;
    return {OpenClOperand::kFault, 0};
  }
  bool has_fault() const { return has_fault_; }
  // Weights in another order, in rows of so many: an operand that may be rounded, or become an image.
  OpenClOperand Weights(std::vector<float> numbers, int64_t row);
  // Real numbers that stay what they are.
  OpenClOperand Reals(const std::vector<float> &numbers);
  // Sizes and strides.
  OpenClOperand Integers(const std::vector<int64_t> &numbers);
  OpenClLaunch &Launch(const char *file, const char *function);
  // The output has the contents of the input, in the same order: no launch is needed.
  void Alias(int32_t input, int32_t output = 0) { aliases_.push_back({input, output}); }

  const std::vector<OpenClLaunch> &launches() const { return launches_; }
  const std::vector<int64_t> &scratch() const { return scratch_; }
  const std::vector<OpenClConstant> &constants() const { return constants_; }
  const std::vector<std::pair<int32_t, int32_t>> &aliases() const { return aliases_; }

 private:
  OpenClOperand Add(OpenClConstant constant);

  const mslite_node &node_;
  const std::vector<int32_t> &inputs_;
  const std::vector<int32_t> &outputs_;
  std::vector<OpenClLaunch> launches_;
  std::vector<int64_t> scratch_;
  std::vector<OpenClConstant> constants_;
  std::vector<std::pair<int32_t, int32_t>> aliases_;
  bool has_fault_ = false;
};

// What float16 is to a node: which of its tensors stay float32 where others are stored as float16.
struct OpenClPrecision {
  enum Results {
    kMoved,  // are as large as the operands
    kMixed,  // are as large as the operands that are not broadcast; beyond float16, where any operand was meant to be
    kFresh,  // are of a size of their own, which float16 has
    kGrown,  // may be beyond float16, or between its numbers
  } results = kMoved;
  uint32_t exact = 0;  // bit i: operand i must not be rounded
};
constexpr uint32_t kAllExact = ~0u;

// How an operator runs on OpenCL devices. Adding one: an entry of this kind in the family's file in operators/.
struct OpenClOperator {
  int32_t op;
  // Why the node does not run; an empty text: it does.
  std::string (*why_not)(const mslite_node &node);
  void (*plan)(OpenClPlan *plan);
  OpenClPrecision (*precision)(const mslite_node &node) = nullptr;  // null: the default one
};
// Null where there is none.
const OpenClOperator *FindOpenClOperator(int32_t op);

// ---- what the operators' files share ----

// The type in OpenCL C of an element; null where no kernel takes it.
const char *OpenClType(int32_t type);
int64_t CountOf(const mslite_tensor &tensor);
int64_t RoundUp(int64_t value, int64_t multiple);
// "" where all inputs and outputs are float32; else the reason.
std::string WhyNotReal(const mslite_node &node);
// The numbers of a constant, as float32. Empty for what is no constant of real numbers.
std::vector<float> RealsOf(const mslite_tensor &tensor);
// For the entries of operators whose precision does not depend on attributes.
inline OpenClPrecision Mixed(const mslite_node &) { return {OpenClPrecision::kMixed, 0}; }
inline OpenClPrecision MixedOfExact(const mslite_node &) { return {OpenClPrecision::kMixed, kAllExact}; }
inline OpenClPrecision Fresh(const mslite_node &) { return {OpenClPrecision::kFresh, 0}; }
inline OpenClPrecision FreshOfExact(const mslite_node &) { return {OpenClPrecision::kFresh, kAllExact}; }
inline OpenClPrecision Grown(const mslite_node &) { return {OpenClPrecision::kGrown, 0}; }
inline OpenClPrecision GrownOfExact(const mslite_node &) { return {OpenClPrecision::kGrown, kAllExact}; }
// Whether the operand is there.
bool HasInput(const mslite_node &node, int32_t index);
}  // namespace mslite

#endif
