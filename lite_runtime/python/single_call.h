// One operator call that Python describes: what both native modules need for it.
#ifndef MSLITE_PYTHON_SINGLE_CALL_H
#define MSLITE_PYTHON_SINGLE_CALL_H

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "model/unpack.h"
#include "plan/single_node.h"
#include "tensor_info.h"

namespace mslite::python {

/// Python's OperatorError: an operator call that cannot be.
struct OperatorError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Python's UnsupportedError: legal, but no shape rule or kernel is there.
struct UnsupportedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws what a failed outcome says.
void Check(const Outcome &outcome);

/// A FlatBuffers buffer whose root is a Primitive, verified and unpacked.
class PrimitiveBuffer {
 public:
  explicit PrimitiveBuffer(nb::handle buffer);

  int32_t op = 0;
  const void *params = nullptr;

 private:
  Buffer bytes_;
  unpack::Arena arena_;
};

/// A call of a kernel: operator, inputs, which of them are constants, and what is declared of the outputs.
class SingleCall {
 public:
  /// `outputs` are as many as the node has; only types and records are read. Throws OperatorError.
  SingleCall(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<bool> &constant,
             const std::vector<TensorInfo> &outputs, int32_t quant_type);

  SingleNode &node() { return node_; }

 private:
  PrimitiveBuffer primitive_;
  TensorViews inputs_;
  TensorViews outputs_;
  SingleNode node_;
};

/// The inputs of a node; without flags all are constants. Throws OperatorError for one without contents.
std::vector<SingleInput> SingleInputs(const TensorViews &views, const std::vector<bool> *constant);

/// (name, operator, instruction set, whether it may run in place of an input).
using KernelEntry = std::tuple<std::string, std::string, std::string, bool>;
KernelEntry EntryOf(const mslite_kernel &kernel);

/// The kernel of that name in the first of the lists that has one. Throws KeyError.
const mslite_kernel *FindKernel(std::initializer_list<KernelList> lists, const std::string &name);

/// True when the kernel takes this call. Throws OperatorError for a call that cannot be.
bool Supports(const mslite_kernel *kernel, SingleCall *call);

/// Runs the kernel between guard bytes and returns its outputs. Throws OperatorError when it writes where it must not.
std::vector<nb::object> RunKernel(const mslite_kernel *kernel, SingleCall *call, const RunOptions &options);

}  // namespace mslite::python

#endif
