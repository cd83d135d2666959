/// Base classes of delegates.
#ifndef MINDSPORE_INCLUDE_API_DELEGATE_API_H
#define MINDSPORE_INCLUDE_API_DELEGATE_API_H

#include <memory>
#include <utility>
#include <vector>

#include "include/api/types.h"

namespace mindspore {
/// A backend that runs partitions of a model. `inputs` and `outputs` are those of the model.
class AbstractDelegate {
 public:
  AbstractDelegate() = default;
  AbstractDelegate(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  virtual ~AbstractDelegate() = default;

  const std::vector<MSTensor> &inputs() { return inputs_; }
  const std::vector<MSTensor> &outputs() { return outputs_; }

 protected:
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
};

/// A delegate for graphs of type Graph, with nodes of type Node and kernels of type Kernel.
template <typename Graph, typename Node, typename Kernel>
class IDelegate : public AbstractDelegate {
 public:
  IDelegate() = default;
  IDelegate(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs)
      : AbstractDelegate(inputs, outputs) {}

  /// Replaces the nodes of `graph` that the backend runs.
  virtual void ReplaceNodes(const std::shared_ptr<Graph> &graph) = 0;
  virtual bool IsDelegateNode(const std::shared_ptr<Node> &node) = 0;
  /// Returns the kernel of a node for which IsDelegateNode is true.
  virtual std::shared_ptr<Kernel> CreateKernel(const std::shared_ptr<Node> &node) = 0;
};
}  // namespace mindspore

#endif
