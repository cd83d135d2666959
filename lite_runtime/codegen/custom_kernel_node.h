// Custom operators in generated C. Their output shapes are those in the model file; their kernel is the user's function
// CustomKernel.
#ifndef MSLITE_CODEGEN_CUSTOM_KERNEL_NODE_H
#define MSLITE_CODEGEN_CUSTOM_KERNEL_NODE_H

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/names.h"
#include "plan/registered.h"

namespace mslite::codegen {

inline bool IsCustomOperator(const Node &node) { return node.op == MSLITE_OP_Custom && !node.custom_type.empty(); }

/// A call of CustomKernel, for planning only.
class CustomKernelNode : public RegisteredNode {
 public:
  CustomKernelNode(const Graph &graph, const Node &node) : graph_(graph), node_(node) {
    entry_.name = "CustomKernel";
    entry_.op = MSLITE_OP_Custom;
    entry_.prepare = [](const mslite_node *, void *, mslite_schedule *schedule) {
      schedule->phase_count = 1;
      schedule->part_count[0] = 1;
      return MSLITE_OK;
    };
  }

  /// Returns why its output shapes are unknown, or "" if they are known.
  std::string Problem(const std::vector<const mslite_tensor *> &inputs) const {
    for (const int32_t index : node_.outputs) {
      const Tensor &output = TensorAt(index);
      const bool is_open = std::any_of(output.dims.begin(), output.dims.end(), [](int64_t dim) { return dim < 0; });
      if (is_open || (output.dims.empty() && !output.has_rank) || output.dims.size() > MSLITE_MAX_RANK) {
        return "the model file leaves the shape of its output '" + output.name + "' open";
      }
      if (mslite_type_size(output.type) == 0) {
        return "the model file has no data type for its output '" + output.name + "'";
      }
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int64_t> &dims = TensorAt(node_.inputs[i]).dims;
      const bool is_same = dims.size() == static_cast<size_t>(inputs[i]->rank) &&
                           std::equal(dims.begin(), dims.end(), inputs[i]->dims,
                                      [](int64_t declared, int64_t dim) { return declared < 0 || declared == dim; });
      if (!is_same) return "the output shapes in the model file are for other input shapes";
    }
    return "";
  }

  Status Infer(const std::vector<const mslite_tensor *> & /*inputs*/, std::vector<mslite_tensor> *outputs) override {
    for (size_t i = 0; i < outputs->size(); ++i) {
      const Tensor &source = TensorAt(node_.outputs[i]);
      mslite_tensor &output = (*outputs)[i];
      output = {};
      output.known_count = -1;
      output.type = source.type;
      output.rank = static_cast<int32_t>(source.dims.size());
      std::copy(source.dims.begin(), source.dims.end(), output.dims);
    }
    return mindspore::kSuccess;
  }
  bool counts() const override { return false; }
  const mslite_kernel &kernel() const override { return entry_; }
  const std::string &error() const override { return node_.name; }
  int32_t CountedRank(size_t /*output*/) const override { return -1; }

 private:
  const Tensor &TensorAt(int32_t index) const { return graph_.tensors[static_cast<size_t>(index)]; }

  const Graph &graph_;
  const Node &node_;
  mslite_kernel entry_ = {};
};

/// The custom operators of a model.
class CustomKernelNodes : public RegisteredKernels {
 public:
  explicit CustomKernelNodes(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}

  bool Has(int32_t node) const override { return IsCustomOperator(graph_->nodes[static_cast<size_t>(node)]); }

  Status Find(int32_t node, const std::vector<const mslite_tensor *> &inputs, RegisteredNode **found,
              std::string *why) override {
    *found = nullptr;
    if (!Has(node)) return mindspore::kSuccess;
    auto &made = made_[node];
    if (made == nullptr) {
      made = std::make_unique<CustomKernelNode>(*graph_, graph_->nodes[static_cast<size_t>(node)]);
    }
    *why = made->Problem(inputs);
    if (why->empty()) *found = made.get();
    return mindspore::kSuccess;
  }

 private:
  std::shared_ptr<const Graph> graph_;
  std::map<int32_t, std::unique_ptr<CustomKernelNode>> made_;
};

}  // namespace mslite::codegen

#endif
