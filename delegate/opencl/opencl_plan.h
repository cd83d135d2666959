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

// How a kernel reads or writes an operand. An operand that all kernels access in vectors of four may be an image.
struct OpenClAccessPattern {
  bool is_in_fours = false;  // only by load4, load4_of_row, store4 and store_some of four, at multiples of four
  int64_t row = 0;           // elements of a row of load4_of_row; 0: none

  static OpenClAccessPattern Fours() { return {true, 0}; }
  static OpenClAccessPattern Rows(int64_t row) { return {true, row}; }
};

// A launch that computes each output element from the corresponding input elements. Without expression, the launch is
// not of this kind.
struct OpenClFormula {
  std::string expression;  // in OpenCL C; the arguments 0, 1 and 2 are a, b and c
  std::string activation;  // the first arguments of activate_as in kernels/gpu/common.cl, for `activate`
  // For each argument, the index of its element for output element i. 0: i; 1: 0 (a scalar); n: i % n; -1: none of
  // these.
  std::vector<int64_t> periods;
};

// Element-wise operations on the result of a launch. Each step has the result of the previous one as an argument.
struct OpenClEpilogue {
  struct Step {
    OpenClFormula formula;
    int32_t result = 0;             // index of the formula's argument that is the previous result
    std::vector<int32_t> operands;  // indices of the epilogue's operands, for the other arguments
  };
  std::vector<Step> steps;
  std::vector<int64_t> periods;  // of the epilogue's operands
};

// The batched matmul of a launch. Its arguments are a, b, the bias and y.
struct OpenClProduct {
  mslite_matmul sizes = {};
  std::vector<int64_t> matrices;  // for each matrix of y: the indices of its matrices a and b
};

// An enqueued kernel.
struct OpenClLaunch {
  struct Argument {
    bool is_buffer = false;
    OpenClOperand operand;
    std::string name;  // for an operand that the kernel accesses with the macros of kernels/gpu/common.cl
    bool is_output = false;
    OpenClAccessPattern access;
    int32_t integer = 0;
    float real = 0;
    bool is_real = false;
    int64_t touched = -1;  // number of element accesses by all work items; -1: each element once
    int64_t touched_per_step = 0;
  };
  // The number of output elements along a dimension that a work item computes. It does not affect the result.
  struct Tile {
    const char *define = nullptr;  // macro for the tile size; null: the launch has no tile
    size_t dimension = 0;          // dimension of the work items
    int64_t extent = 0;            // output elements along the dimension
    std::vector<int64_t> sizes;    // allowed sizes; the first one is the default
  };

  std::string file;  // file name in kernels/gpu, without suffix
  std::string function;
  std::string defines;
  std::vector<Argument> arguments;
  std::array<size_t, 3> global = {1, 1, 1};
  size_t group = 0;  // required work-group size along the first dimension; 0: any
  Tile tile;
  int64_t operations = -1;  // floating-point operations of all work items; -1: those that the node needs
  OpenClFormula formula;
  bool takes_epilogue = false;  // the kernel applies FUSED or FUSED4 to its results
  bool stores_fours = false;    // it stores them in vectors of four, at multiples of four
  OpenClEpilogue epilogue;
  std::optional<OpenClProduct> product;
  int64_t softmax_length = 0;  // row length of a softmax over contiguous rows; 0: another launch

  OpenClLaunch &Define(const char *name, const std::string &value) {
    defines += std::string("#define ") + name + " " + value + "\n";
    return *this;
  }
  OpenClLaunch &Define(const char *name, int64_t value) { return Define(name, std::to_string(value)); }
  // Adds an operand that is INPUT(name) or OUTPUT(name) in the kernel's parameters: a tensor or weights, stored in any
  // form (OpenClForm).
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
  // Adds a buffer whose form is fixed: an operand from Integers, Reals or Fault.
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
  // Sets `groups` work-groups of `items` work items.
  OpenClLaunch &Groups(int64_t groups, int64_t items) {
    group = static_cast<size_t>(items);
    return Items(groups * items);
  }
  OpenClLaunch &Activate(int64_t kind, const std::string &alpha = "0.0f", const std::string &low = "-1.0f",
                         const std::string &high = "1.0f");
  // Declares that the kernel supports epilogues. `whole_fours`: it stores vectors of four at multiples of four.
  OpenClLaunch &TakesEpilogue(bool whole_fours) {
    takes_epilogue = true;
    stores_fours = whole_fours;
    return *this;
  }
  // Sets the tile. Called after Items, which sets the other dimensions.
  OpenClLaunch &Tiles(const char *define, size_t dimension, int64_t extent, const std::vector<int64_t> &sizes) {
    tile = {define, dimension, extent, sizes};
    return *this;
  }
  // Sets the number of element accesses to an argument, for the counters: `elements`, plus `per_step` for each tile.
  OpenClLaunch &Touches(size_t argument, int64_t elements, int64_t per_step = 0) {
    arguments[argument].touched = elements;
    arguments[argument].touched_per_step = per_step;
    return *this;
  }
  // Sets the number of floating-point operations.
  OpenClLaunch &Operations(int64_t count) {
    operations = count;
    return *this;
  }
};

// A constant that a plan has computed.
struct OpenClConstant {
  std::vector<uint8_t> bytes;  // data of a buffer with a fixed form
  std::vector<float> weights;  // or weights, which may be stored in another form
  int64_t row = 0;             // row length of `weights`
};

// The launches of one node, in order of execution.
class OpenClPlan {
 public:
  OpenClPlan(const mslite_node &node, const std::vector<int32_t> &inputs, const std::vector<int32_t> &outputs,
             bool is_half = false)
      : node_(node), inputs_(inputs), outputs_(outputs), is_half_(is_half) {}

  const mslite_node &node() const { return node_; }
  // Returns true if float values between launches are stored as float16.
  bool is_half() const { return is_half_; }
  OpenClOperand Input(int32_t index) const { return {OpenClOperand::kTensor, inputs_[static_cast<size_t>(index)]}; }
  OpenClOperand Output(int32_t index = 0) const {
    return {OpenClOperand::kTensor, outputs_[static_cast<size_t>(index)]};
  }
  // Returns a scratch buffer of `count` float values for the launches of the node.
  OpenClOperand Scratch(int64_t count) {
    scratch_.push_back(count);
    return {OpenClOperand::kScratch, static_cast<int32_t>(scratch_.size()) - 1};
  }
  // Returns an int that a launch sets to 1 on a fault, such as an index out of range.
  OpenClOperand Fault() {
    has_fault_ = true;
    return {OpenClOperand::kFault, 0};
  }
  bool has_fault() const { return has_fault_; }
  // Returns an operand with packed weights in rows of `row` elements. It may be stored as float16 or as an image.
  OpenClOperand Weights(std::vector<float> numbers, int64_t row);
  // Returns a float32 buffer.
  OpenClOperand Reals(const std::vector<float> &numbers);
  // Returns an int32 buffer, for sizes and strides.
  OpenClOperand Integers(const std::vector<int64_t> &numbers);
  OpenClLaunch &Launch(const char *file, const char *function);
  // Declares that the output has the same elements in the same order as the input, so that it can share its memory.
  void Alias(int32_t input, int32_t output = 0) { aliases_.push_back({input, output}); }

  std::vector<OpenClLaunch> &launches() { return launches_; }
  const std::vector<OpenClLaunch> &launches() const { return launches_; }
  // Moves the launches of another node before those of this node, together with their constants and scratch buffers.
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

// Returns the name of the data type in OpenCL C; null if kernels do not support it.
const char *OpenClType(int32_t type);
int64_t CountOf(const mslite_tensor &tensor);
int64_t RoundUp(int64_t value, int64_t multiple);
// Returns "" if all inputs and outputs are float32, else the reason.
std::string WhyNotReal(const mslite_node &node);
// Returns the values of a float constant as float32; empty for other tensors.
std::vector<float> RealsOf(const mslite_tensor &tensor);
// Returns true if the node has the input.
bool HasInput(const mslite_node &node, int32_t index);
}  // namespace mslite

#endif
