// SingleCall: a call of one operator that is described in Python. Used by both native modules.
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

/// OperatorError in Python: an invalid operator call.
struct OperatorError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// UnsupportedError in Python: a valid call without shape inference or kernel.
struct UnsupportedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws the error of a failed outcome.
void Check(const Outcome &outcome);

/// A FlatBuffers buffer with a Primitive as its root, verified and unpacked.
class PrimitiveBuffer {
 public:
  explicit PrimitiveBuffer(nb::handle buffer);

  int32_t op = 0;
  const void *params = nullptr;

 private:
  Buffer bytes_;
  unpack::Arena arena_;
};

/// A call of a kernel: operator, inputs, which of them are constants, and the declared outputs.
class SingleCall {
 public:
  /// `outputs` has one entry for each output; only types and quantization parameters are read. Throws OperatorError.
  SingleCall(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<bool> &constant,
             const std::vector<TensorInfo> &outputs, int32_t quant_type);

  SingleNode &node() { return node_; }

 private:
  PrimitiveBuffer primitive_;
  TensorViews inputs_;
  TensorViews outputs_;
  SingleNode node_;
};

/// Returns the inputs of a node. If `constant` is null, all are constants. Throws OperatorError for an input without
/// data.
std::vector<SingleInput> SingleInputs(const TensorViews &views, const std::vector<bool> *constant);

/// (name, operator, instruction set, whether it may run in place of an input).
using KernelEntry = std::tuple<std::string, std::string, std::string, bool>;
KernelEntry EntryOf(const mslite_kernel &kernel);

/// Returns the first kernel of that name in the lists. Throws KeyError.
const mslite_kernel *FindKernel(std::initializer_list<KernelList> lists, const std::string &name);

/// Returns true if the kernel supports the call. Throws OperatorError for an invalid call.
bool Supports(const mslite_kernel *kernel, SingleCall *call);

/// Runs the kernel with guard bytes around its buffers and returns its outputs. Throws OperatorError if it overwrites
/// them.
std::vector<nb::object> RunKernel(const mslite_kernel *kernel, SingleCall *call, const RunOptions &options);

}  // namespace mslite::python

#endif
