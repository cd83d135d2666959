// KernelNode: a node with the registered kernel or delegate's kernel that runs it.
#ifndef MSLITE_REGISTRY_KERNEL_NODE_H
#define MSLITE_REGISTRY_KERNEL_NODE_H

#include <memory>
#include <string>
#include <vector>

#include "plan/frame.h"
#include "plan/registered.h"
#include "registry/delegation.h"
#include "registry/kernel_device.h"
#include "registry/registry.h"

namespace mslite {
// There is one kernel object for each node and session. It is created and prepared once, and resized when shapes
// change. The kernel shares the tensors of this object.
class KernelNode : public RegisteredNode {
 public:
  // `device`: the device of the kernel and of its tensors except constants; null: the CPU.
  // Errors: the creator throws or returns no kernel.
  static Status Create(const Graph &graph, const Node &node, const mindspore::Context *context,
                       const RegisteredKernel &registered, const std::shared_ptr<KernelDevice> &device,
                       std::unique_ptr<KernelNode> *result);
  // The node of a partition of a delegate.
  KernelNode(const Graph &graph, const Node &node, const std::shared_ptr<const Delegation> &delegation);
  ~KernelNode() override;
  KernelNode(const KernelNode &) = delete;
  KernelNode &operator=(const KernelNode &) = delete;

  Status Infer(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs) override;
  bool counts() const override { return is_open_; }
  const mslite_kernel &kernel() const override { return entry_; }
  const std::string &error() const override { return error_; }
  int32_t CountedRank(size_t output) const override { return counted_[output].rank; }
  int32_t lane() const override { return lane_; }

  mindspore::DataType type() const { return registered_.type; }

 private:
  // The data of the kernel entry for a step: this node, followed by the shapes of its inputs and outputs.
  struct Derived {
    KernelNode *node;
  };

  KernelNode(const Graph &graph, const Node &node, const mindspore::Context *context,
             const RegisteredKernel &registered);
  static mslite_status PrepareStep(const mslite_node *node, void *derived, mslite_schedule *schedule);
  static mslite_status CountStep(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]);
  static void RunStep(const mslite_run *run, int32_t phase, int32_t part);

  void ReadFile(const Graph &graph);
  Status InferCovered(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs);
  size_t OperandCount() const { return inputs_.size() + outputs_.size(); }
  bool IsAsDeclared(const std::vector<const mslite_tensor *> &inputs) const;
  bool AskRule(mindspore::Status *status);
  bool ReadOutputs(bool is_open, std::vector<TensorShape> *shapes);
  bool ShowShapes(const TensorShape *shapes);
  bool TakeShapes(const TensorShape *shapes);
  bool Run(const TensorShape *shapes, const mslite_run &run);
  bool ShowContents(const TensorShape *shapes, const mslite_run &run);
  bool ShowOnDevice(size_t operand, const TensorShape &shape, const void *contents);
  bool ReserveResult(size_t output, const TensorShape &shape, void *memory);
  template <typename Function>
  bool Call(const char *what, Function function);
  bool Fails(const std::string &reason);

  // The device memory of a tensor, with the type and shape that it was allocated for.
  struct OnDevice {
    TensorShape shape;
    void *memory = nullptr;
  };

  const Node &node_;
  RegisteredKernel registered_;
  std::shared_ptr<KernelDevice> device_;
  const Graph *graph_ = nullptr;                // the graph of `covered_`
  const std::vector<Node> *covered_ = nullptr;  // the nodes that a delegate's kernel replaces
  int32_t lane_ = -1;
  std::string name_;
  std::string origin_;
  mslite_kernel entry_ = {};
  std::vector<mindspore::MSTensor> inputs_;
  std::vector<mindspore::MSTensor> outputs_;
  std::vector<TensorShape> declared_;  // output shapes of the file; rank -1: unknown
  std::vector<std::vector<int64_t>> declared_inputs_;
  std::shared_ptr<mindspore::kernel::Kernel> kernel_;
  std::shared_ptr<mindspore::kernel::KernelInterface> rule_;
  std::vector<TensorShape> seen_;  // shapes of the last Prepare or ReSize
  std::vector<TensorShape> counted_;
  std::vector<OnDevice> on_device_;  // of the inputs and outputs
  bool is_prepared_ = false;
  bool is_open_ = false;  // the last shape inference left a rank unknown
  std::string error_;
};
}  // namespace mslite

#endif
