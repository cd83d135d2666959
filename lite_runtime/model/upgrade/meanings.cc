#include "model/upgrade/meanings.h"

#include <cstring>
#include <vector>

namespace mslite {
void ReadTopK(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (node.op != MSLITE_OP_TopKFusion || node.params == nullptr) continue;
    auto *params = graph->arena.Make<mslite_TopKFusion>();
    *params = *static_cast<const mslite_TopKFusion *>(node.params);
    params->axis = -1;
    node.params = params;
  }
}

void ReadResizeOperands(Graph *graph) {
  const auto is_target = [](const Node &node, size_t place) {
    return node.op == MSLITE_OP_Resize && node.inputs.size() == 2 && place == 1;
  };
  std::vector<uint8_t> has_other_readers(graph->tensors.size(), 0);
  for (const Node &node : graph->nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] >= 0 && !is_target(node, i)) has_other_readers[static_cast<size_t>(node.inputs[i])] = 1;
    }
  }
  for (const Node &node : graph->nodes) {
    if (node.inputs.size() < 2 || !is_target(node, 1) || node.inputs[1] < 0) continue;
    Tensor &target = graph->tensors[static_cast<size_t>(node.inputs[1])];
    const bool is_four = target.is_constant && target.data != nullptr && target.size == 4 * sizeof(int32_t) &&
                         (target.type == MSLITE_INT32 || target.type == MSLITE_FLOAT32);
    if (!is_four || target.format != MSLITE_FORMAT_NCHW ||
        has_other_readers[static_cast<size_t>(node.inputs[1])] != 0) {
      continue;
    }
    auto *sorted = graph->arena.MakeArray<int32_t>(4);
    constexpr size_t kFrom[] = {0, 2, 3, 1};
    for (size_t i = 0; i < 4; ++i) std::memcpy(&sorted[i], target.data + kFrom[i] * sizeof(int32_t), sizeof(int32_t));
    target.data = reinterpret_cast<const uint8_t *>(sorted);
    target.format = MSLITE_FORMAT_NHWC;  // so that no other Resize sorts it again
  }
}
}  // namespace mslite
