// Runs one operator call outside of a model, for constant folding in the converter and for the kernel tests.
#ifndef MSLITE_PLAN_SINGLE_NODE_H
#define MSLITE_PLAN_SINGLE_NODE_H

#include <cstdint>
#include <memory>
#include <vector>

#include "kernel.h"
#include "model/internal_api.h"
#include "plan/choose_kernel.h"
#include "plan/cpu_features.h"
#include "plan/guarded_buffer.h"
#include "plan/shapes.h"

namespace mslite {

/// An input: its tensor (with contents in `data`, and all dimensions known), and whether the kernel may treat it as a
/// constant, which it can pack, and read in `support` and `prepare`.
struct SingleInput {
  mslite_tensor tensor;
  bool constant = true;
};

/// How a node is run. The result must not depend on these options.
struct RunOptions {
  int32_t threads = 1;
  uint32_t shuffle_seed = 0;  ///< 0: parts in order; otherwise the parts of a phase in random order from this seed
  bool in_place = false;      ///< lets output 0 share the memory of the input that the kernel names
};

class SingleNode {
 public:
  /// `params` and the contents of the inputs must outlive the node.
  MSLITE_INTERNAL_API SingleNode(int32_t op, const void *params, std::vector<SingleInput> inputs, int32_t output_count);

  /// Sets what shape rules cannot infer: the integer types of the outputs and their quantization parameters (which must
  /// outlive the node), and the node's quantization type. Call it before Prepare.
  void DeclareOutputs(const std::vector<mslite_tensor> &declared, int32_t quant_type) {
    declared_outputs_ = declared;
    quant_type_ = quant_type;
  }

  /// Infers the outputs and chooses the best kernel for `isas`, or uses `forced`, which must support the node. Then
  /// prepares the kernel, packs its constants, and calls `count` if the output shapes depend on contents.
  MSLITE_INTERNAL_API Outcome Prepare(const IsaSet &isas, const mslite_kernel *forced = nullptr,
                                      const KernelLists &more = {});

  /// Runs the prepared kernel on private copies of the inputs and fills `outputs()`. All memory of the kernel has guard
  /// bytes around it and arbitrary initial contents. Reports a kernel that writes out of bounds, or whose prepared data
  /// depends on uninitialized memory.
  MSLITE_INTERNAL_API Outcome RunGuarded(const RunOptions &options);

  /// Runs the prepared kernel on the inputs without copies, single-threaded, into memory of the caller (`targets[i]`
  /// for output i).
  MSLITE_INTERNAL_API Outcome Run(const std::vector<void *> &targets);

  const mslite_kernel *kernel() const { return kernel_; }
  const mslite_node &node() const { return node_; }
  const void *derived() const { return derived_.data(); }
  const mslite_schedule &schedule() const { return schedule_; }
  /// The packed form of an input; its size is 0 if the input is not packed.
  const GuardedBuffer &packed(size_t input) const { return packed_[input]; }
  /// The outputs. All dimensions are known after Prepare.
  const std::vector<mslite_tensor> &outputs() const { return outputs_; }
  /// The contents of an output after RunGuarded.
  const void *output_data(size_t index) const { return results_[index]; }
  /// The size of an output in bytes.
  MSLITE_INTERNAL_API size_t output_bytes(size_t index) const;

 private:
  Outcome CallPrepare();
  Outcome PrepareAgain() const;
  Outcome PackConstants();
  Outcome CountOutputs();
  Outcome Execute(const std::vector<const void *> &inputs, const std::vector<void *> &outputs,
                  const RunOptions &options, bool *damaged);
  Outcome Fail(mslite_status status, const std::string &reason) const;

  int32_t op_;
  const void *params_;
  std::vector<SingleInput> inputs_;
  std::vector<mslite_tensor> seen_inputs_;  // as the kernel sees them: without contents if they are not constant
  std::vector<mslite_tensor> outputs_;
  std::vector<mslite_tensor> declared_outputs_;
  int32_t quant_type_ = 0;
  std::vector<const mslite_tensor *> input_pointers_;
  std::vector<const mslite_tensor *> output_pointers_;
  mslite_node node_{};
  const mslite_kernel *kernel_ = nullptr;
  mslite_schedule schedule_{};
  GuardedBuffer derived_;
  std::vector<GuardedBuffer> packed_;  // one per input; empty if the input is not packed
  std::vector<GuardedBuffer> input_copies_;
  std::vector<GuardedBuffer> output_memory_;
  std::vector<const void *> results_;
};

}  // namespace mslite

#endif
