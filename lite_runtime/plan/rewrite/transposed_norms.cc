#include "plan/rewrite/transposed_norms.h"

#include <algorithm>
#include <vector>

#include "model/permutation.h"

namespace mslite {
namespace {
constexpr int32_t kNone = -1;

class Joiner {
 public:
  Joiner(Graph *graph, const std::function<bool(const Node &)> &keeps)
      : graph_(graph), keeps_(keeps), producers_(graph->tensors.size(), kNone), uses_(graph->tensors.size()) {
    for (const SubGraph &subgraph : graph->subgraphs) {
      for (const int32_t index : subgraph.nodes) {
        for (const int32_t input : NodeAt(index).inputs) Read(input, index);
        for (const int32_t output : NodeAt(index).outputs) {
          if (output >= 0) producers_[static_cast<size_t>(output)] = index;
        }
      }
      for (const int32_t output : subgraph.outputs) Read(output, kNone);
    }
    for (const int32_t output : graph->outputs) Read(output, kNone);
  }

  void Join(SubGraph *subgraph) {
    std::vector<int32_t> gone;
    for (const int32_t index : subgraph->nodes) JoinNode(index, &gone);
    const auto is_gone = [&](int32_t index) { return std::find(gone.begin(), gone.end(), index) != gone.end(); };
    subgraph->nodes.erase(std::remove_if(subgraph->nodes.begin(), subgraph->nodes.end(), is_gone),
                          subgraph->nodes.end());
  }

 private:
  Node &NodeAt(int32_t index) { return graph_->nodes[static_cast<size_t>(index)]; }
  Tensor &TensorAt(int32_t index) { return graph_->tensors[static_cast<size_t>(index)]; }

  void Read(int32_t tensor, int32_t reader) {
    if (tensor < 0) return;
    Uses &uses = uses_[static_cast<size_t>(tensor)];
    ++uses.count;
    uses.reader = reader;
  }

  // Returns the only reader of the only output of `node`, or kNone.
  int32_t OnlyReader(const Node &node) const {
    if (node.outputs.size() != 1 || node.outputs[0] < 0) return kNone;
    const Uses &uses = uses_[static_cast<size_t>(node.outputs[0])];
    return uses.count == 1 ? uses.reader : kNone;
  }

  // Returns the permutation of a Transpose; nullptr for other nodes.
  const Tensor *OrderOf(int32_t index) {
    if (index < 0) return nullptr;
    const Node &node = NodeAt(index);
    if (node.op != MSLITE_OP_Transpose || node.inputs.size() < 2 || node.outputs.size() != 1) return nullptr;
    if (node.inputs[0] < 0 || node.inputs[1] < 0 || node.outputs[0] < 0 || keeps_(node)) return nullptr;
    return &TensorAt(node.inputs[1]);
  }

  void JoinNode(int32_t index, std::vector<int32_t> *gone) {
    const Node &norm = NodeAt(index);
    if (norm.op != MSLITE_OP_InstanceNorm || norm.params == nullptr || norm.inputs.empty() || norm.inputs[0] < 0)
      return;
    if (keeps_(norm)) return;
    const int32_t before = producers_[static_cast<size_t>(norm.inputs[0])];
    const Tensor *order = OrderOf(before);
    const int32_t rank = order == nullptr ? 0 : IsToChannelsFirst(*order);
    if (rank == 0) return;
    std::vector<int32_t> chain = {index};  // the norm and the activations after it
    int32_t after = OnlyReader(norm);
    while (after >= 0 && NodeAt(after).op == MSLITE_OP_Activation && !keeps_(NodeAt(after))) {
      chain.push_back(after);
      after = OnlyReader(NodeAt(after));
    }
    const Tensor *back = OrderOf(after);
    if (back == nullptr || IsToChannelsLast(*back) != rank) return;
    if (--uses_[static_cast<size_t>(norm.inputs[0])].count == 0) gone->push_back(before);
    gone->push_back(after);
    Rewrite(chain, NodeAt(before).inputs[0], NodeAt(after).outputs[0]);
  }

  void Rewrite(const std::vector<int32_t> &chain, int32_t x, int32_t y) {
    Node &norm = NodeAt(chain.front());
    auto *params = graph_->arena.Make<mslite_ChannelsLastInstanceNorm>();
    params->epsilon = static_cast<const mslite_InstanceNorm *>(norm.params)->epsilon;
    norm.op = MSLITE_OP_ChannelsLastInstanceNorm;
    norm.params = params;
    norm.primitive = nullptr;
    norm.inputs[0] = x;
    for (const int32_t index : chain) {
      Tensor &result = TensorAt(NodeAt(index).outputs[0]);
      result.has_rank = TensorAt(x).has_rank;
      result.dims = TensorAt(x).dims;
      result.format = TensorAt(x).format;
    }
    NodeAt(chain.back()).outputs[0] = y;
    producers_[static_cast<size_t>(y)] = chain.back();
  }

  struct Uses {
    int32_t count = 0;
    int32_t reader = kNone;  // the last reader; kNone if it is the caller
  };

  Graph *graph_;
  const std::function<bool(const Node &)> &keeps_;
  std::vector<int32_t> producers_;  // per tensor
  std::vector<Uses> uses_;          // per tensor
};
}  // namespace

void FuseTransposedNorms(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  Joiner joiner(graph, keeps);
  for (SubGraph &subgraph : graph->subgraphs) joiner.Join(&subgraph);
}
}  // namespace mslite
