// OpenClPlan: the kernel launches of an operator, with their operands.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PLAN_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PLAN_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"
#include "matmul/geometry.h"

namespace mslite {
// Memory that a launch reads or writes.
struct OpenClOperand {
  enum Place { kTensor, kScratch, kConstant, kFault } place = kTensor;
  int32_t index = 0;
};

// How a kernel reads or writes an operand. What all of them access by fours may be an image.
struct OpenClAccessPattern {
  bool is_in_fours = false;  // by load4 and load4_of_row, by store4 and store_some of four, from multiples of four on
  int64_t row = 0;           // elements of a row of load4_of_row; 0: none

  static OpenClAccessPattern Fours() { return {true, 0}; }
  static OpenClAccessPattern Rows(int64_t row) { return {true, row}; }
};

// What a launch computes of each element alone; of no expression: it does something else.
struct OpenClFormula {
  std::string expression;  // of the arguments 0, 1 and 2, as a, b and c
  std::string activation;  // the first arguments of activate_as in kernels/gpu/common.cl, for `activate`
  // Of each argument: which element goes with element i of the output. 0: the same; 1: the only one; n: i % n; -1:
  // another one.
  std::vector<int64_t> periods;
};

// Formulas for the results of a launch, of which each takes the one before as an argument.
struct OpenClEpilogue {
  struct Step {
    OpenClFormula formula;
    int32_t result = 0;             // which of the formula's arguments the result before is
    std::vector<int32_t> operands;  // numbers of the launch's further operands, for the other arguments
  };
  std::vector<Step> steps;
  std::vector<int64_t> periods;  // of the further operands
};

// The matmuls of a launch. Its arguments are a, b, the bias and y.
struct OpenClProduct {
  mslite_matmul sizes = {};
  std::vector<int64_t> matrices;  // for each one of y: the numbers of its matrices a and b
};

// An enqueued kernel.
struct OpenClLaunch {
  struct Argument {
    bool is_buffer = false;
    OpenClOperand operand;
    std::string name;  // in the kernel, which then reads or writes it by the words of kernels/gpu/common.cl
    bool is_output = false;
    OpenClAccessPattern access;
    int32_t integer = 0;
    float real = 0;
    bool is_real = false;
    int64_t touched = -1;  // elements of a buffer that the items read or write, all together; -1: each one once
    int64_t touched_per_step = 0;
  };
  // Elements of the output along a dimension that an item computes. Which size of these it is changes no result.
  struct Tile {
    const char *define = nullptr;  // null: the launch has none
    size_t dimension = 0;          // of the items
    int64_t extent = 0;            // elements of the output along it
    std::vector<int64_t> sizes;    // the first one is taken where nothing was measured
  };

  std::string file;  // of kernels/gpu, without its ending
  std::string function;
  std::string defines;
  std::vector<Argument> arguments;
  std::array<size_t, 3> global = {1, 1, 1};
  size_t group = 0;  // work items of a group along the first dimension; 0: whichever is fastest
  Tile tile;
  int64_t operations = -1;  // floating-point operations that the items do; -1: what the node needs
  OpenClFormula formula;
  bool takes_epilogue = false;  // the kernel stores FUSED of its results, or FUSED4
  bool stores_fours = false;    // and whole fours of them, at multiples of four
  OpenClEpilogue epilogue;
  std::optional<OpenClProduct> product;
  int64_t softmax_length = 0;  // of rows that follow each other; 0: it is no such softmax

  OpenClLaunch &Define(const char *name, const std::string &value) {
    defines += std::string("#define ") + name + " " + value + "\n";
    return *this;
  }
  OpenClLaunch &Define(const char *name, int64_t value) { return Define(name, std::to_string(value)); }
  // INPUT(name) and OUTPUT(name) in the kernel's list of parameters: tensors and weights, in whatever form memory has
  // them.
  OpenClLaunch &Input(const char *name, OpenClOperand operand, OpenClAccessPattern access = {}) {
    Buffer(operand);
    arguments.back().name = name;
    arguments.back().access = access;
    return *this;
  }
  OpenClLaunch &Output(const char *name, OpenClOperand operand, OpenClAccessPattern access = {}) {
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
  OpenClLaunch &Activate(int64_t kind, const std::string &alpha = "0.0f", const std::string &low = "-1.0f",
                         const std::string &high = "1.0f");
  // Whether whole fours are stored, at multiples of four.
  OpenClLaunch &TakesEpilogue(bool whole_fours) {
    takes_epilogue = true;
    stores_fours = whole_fours;
    return *this;
  }
  // Behind Items, which has the other dimensions.
  OpenClLaunch &Tiles(const char *define, size_t dimension, int64_t extent, const std::vector<int64_t> &sizes) {
    tile = {define, dimension, extent, sizes};
    return *this;
  }
  // What the items read or write of an argument's buffer, for the counts: `elements`, and `per_step` more for each tile
  // along the tile's dimension.
  OpenClLaunch &Touches(size_t argument, int64_t elements, int64_t per_step = 0) {
    arguments[argument].touched = elements;
    arguments[argument].touched_per_step = per_step;
    return *this;
  }
  // Floating-point operations.
  OpenClLaunch &Operations(int64_t count) {
    operations = count;
    return *this;
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
  OpenClPlan(const mslite_node &node, const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs,
             bool is_half = false)
      : node_(node), inputs_(inputs), outputs_(outputs), is_half_(is_half) {}

  const mslite_node &node() const { return node_; }
  // Whether float values between launches are stored as float16.
  bool is_half() const { return is_half_; }
  OpenClOperand Input(int32_t index) const { return {OpenClOperand::kTensor, inputs_[static_cast<size_t>(index)]}; }
  OpenClOperand Output(int32_t index = 0) const {
    return {OpenClOperand::kTensor, outputs_[static_cast<size_t>(index)]};
  }
  // Memory for float values between launches of the node.
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
  // Float values that stay what they are.
  OpenClOperand Reals(const std::vector<float> &numbers);
  // Sizes and strides.
  OpenClOperand Integers(const std::vector<int64_t> &numbers);
  OpenClLaunch &Launch(const char *file, const char *function);
  // The output has the contents of the input, in the same order: no launch is needed.
  void Alias(int32_t input, int32_t output = 0) { aliases_.push_back({input, output}); }

  std::vector<OpenClLaunch> &launches() { return launches_; }
  const std::vector<OpenClLaunch> &launches() const { return launches_; }
  // Takes the launches of another node, in front of its own, and what they need.
  void Absorb(OpenClPlan *other);
  const std::vector<int64_t> &scratch() const { return scratch_; }
  const std::vector<OpenClConstant> &constants() const { return constants_; }
  const std::vector<std::pair<int32_t, int32_t>> &aliases() const { return aliases_; }

 private:
  OpenClOperand Add(OpenClConstant constant);

  const mslite_node &node_;
  const std::vector<int32_t> &inputs_;
  const std::vector<int32_t> &outputs_;
  bool is_half_;
  std::vector<OpenClLaunch> launches_;
  std::vector<int64_t> scratch_;
  std::vector<OpenClConstant> constants_;
  std::vector<std::pair<int32_t, int32_t>> aliases_;
  bool has_fault_ = false;
};

// The implementation of an operator on OpenCL. A new operator needs an entry in a file in operators/.
struct OpenClOperator {
  int32_t op;
  // Returns the reason if the node is unsupported, else "".
  std::string (*why_not)(const mslite_node &node);
  void (*plan)(OpenClPlan *plan);
};
// Returns the implementation of an operator; null if there is none.
const OpenClOperator *FindOpenClOperator(int32_t op);

// ---- common functions of the files in operators/ ----

// The type in OpenCL C of an element; null where no kernel takes it.
const char *OpenClType(int32_t type);
int64_t CountOf(const mslite_tensor &tensor);
int64_t RoundUp(int64_t value, int64_t multiple);
// Returns "" if all inputs and outputs are float32, else the reason.
std::string WhyNotReal(const mslite_node &node);
// The numbers of a constant, as float32. Empty for what is no constant of float values.
std::vector<float> RealsOf(const mslite_tensor &tensor);
// Returns true if the node has the input.
bool HasInput(const mslite_node &node, int32_t index);
}  // namespace mslite

#endif
