#include "model/upgrade/instance_norm.h"

#include <algorithm>

#include "model/permutation.h"

namespace mslite {
namespace {
// From 2.0 on, a Transpose of two out of three dimensions changes the layout, too.
const Version kRowsChangeLayout = {2, 0, 0};

// Finds the layouts that MindSpore Lite would find at run time: graph inputs have the layout in the file, results have
// the layout of their input, and Transpose changes it.
class Layouts {
 public:
  explicit Layouts(const Graph &graph) : graph_(graph), producers_(graph.tensors.size(), -1) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int32_t output : graph.nodes[i].outputs) {
        if (output >= 0) producers_[static_cast<size_t>(output)] = static_cast<int32_t>(i);
      }
    }
  }

  int32_t Of(int32_t tensor) const {
    bool swaps = false;
    int32_t format = -1;
    for (size_t steps = 0; format < 0 && steps <= graph_.nodes.size(); ++steps) {
      const int32_t producer = producers_[static_cast<size_t>(tensor)];
      const int32_t source = producer < 0 ? -1 : DataOf(graph_.nodes[static_cast<size_t>(producer)]);
      if (source < 0) break;
      switch (OrderOf(graph_.nodes[static_cast<size_t>(producer)])) {
        case Order::kChannelsFirst:
          format = MSLITE_FORMAT_NCHW;
          break;
        case Order::kChannelsLast:
          format = MSLITE_FORMAT_NHWC;
          break;
        case Order::kRows:
          swaps = !swaps;
          break;
        case Order::kOther:
          break;
      }
      tensor = source;
    }
    if (format < 0) format = graph_.tensors[static_cast<size_t>(tensor)].format;
    if (!swaps) return format;
    return format == MSLITE_FORMAT_NCHW ? MSLITE_FORMAT_NHWC : MSLITE_FORMAT_NCHW;
  }

 private:
  enum class Order : uint8_t { kOther, kChannelsFirst, kChannelsLast, kRows };

  // Returns the input whose layout the results have; -1 if the layout is only in the file.
  int32_t DataOf(const Node &node) const {
    if (node.op == MSLITE_OP_Call) return -1;
    const auto place = std::find_if(node.inputs.begin(), node.inputs.end(), [this](int32_t input) {
      return input >= 0 && !graph_.tensors[static_cast<size_t>(input)].is_constant;
    });
    return place == node.inputs.end() ? -1 : *place;
  }

  Order OrderOf(const Node &node) const {
    if (node.op != MSLITE_OP_Transpose || node.inputs.size() < 2 || node.inputs[1] < 0) return Order::kOther;
    const Tensor &order = graph_.tensors[static_cast<size_t>(node.inputs[1])];
    if (IsToChannelsFirst(order) == 4) return Order::kChannelsFirst;
    const int32_t rank = IsToChannelsLast(order);
    if (rank == 4) return Order::kChannelsLast;
    const bool is_early = Version{} < graph_.version && graph_.version < kRowsChangeLayout;
    return rank == 3 && !is_early ? Order::kRows : Order::kOther;
  }

  const Graph &graph_;
  std::vector<int32_t> producers_;
};
}  // namespace

void FindChannelsLast(Graph *graph) {
  const auto is_norm = [](const Node &node) {
    return node.op == MSLITE_OP_InstanceNorm && node.params != nullptr && !node.inputs.empty() && node.inputs[0] >= 0;
  };
  if (std::none_of(graph->nodes.begin(), graph->nodes.end(), is_norm)) return;
  const Layouts layouts(*graph);
  for (Node &node : graph->nodes) {
    if (!is_norm(node)) continue;
    const Tensor &x = graph->tensors[static_cast<size_t>(node.inputs[0])];
    const bool may_be_image = !x.has_rank || x.dims.size() == 4;
    if (!may_be_image || x.format != MSLITE_FORMAT_NHWC || layouts.Of(node.inputs[0]) != MSLITE_FORMAT_NHWC) continue;
    auto *params = graph->arena.Make<mslite_ChannelsLastInstanceNorm>();
    params->epsilon = static_cast<const mslite_InstanceNorm *>(node.params)->epsilon;
    node.params = params;
    node.op = MSLITE_OP_ChannelsLastInstanceNorm;
  }
}
}  // namespace mslite
