#include "model/upgrade/attribute_semantics.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace mslite {
namespace {
template <typename T>
mslite_longs Entries(const Tensor &tensor, unpack::Arena *arena) {
  const size_t count = tensor.size / sizeof(T);
  auto *entries = arena->MakeArray<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    T entry;
    std::memcpy(&entry, tensor.data + i * sizeof entry, sizeof entry);
    entries[i] = entry;
  }
  return {static_cast<int32_t>(count), entries};
}

// Operators have lists no longer than their results and dimensions. A longer list is not converted; planning reports
// the node.
constexpr size_t kLongestList = 1 << 16;

constexpr int64_t kMaxColumns = 1 << 24;

// Returns the columns of a MatMul from the shape of its second input or its result in the file; 0 if they are unknown.
int64_t ColumnsOf(const Graph &graph, const Node &node) {
  const auto &params = *static_cast<const mslite_MatMulFusion *>(node.params);
  const Tensor &b = graph.tensors[static_cast<size_t>(node.inputs[1])];
  int64_t columns = -1;
  if (b.dims.size() > 1) {
    columns = b.dims[b.dims.size() - (params.transpose_b ? 2 : 1)];
  } else if (!node.outputs.empty() && node.outputs[0] >= 0) {
    const Tensor &y = graph.tensors[static_cast<size_t>(node.outputs[0])];
    if (!y.dims.empty()) columns = y.dims.back();
  }
  return columns > 0 && columns <= kMaxColumns ? columns : 0;
}

// Returns the second of two inputs if it is a constant list of integers.
const Tensor *ListOperand(const Graph &graph, const Node &node) {
  if (node.inputs.size() != 2 || node.inputs[1] < 0) return nullptr;
  const Tensor &list = graph.tensors[static_cast<size_t>(node.inputs[1])];
  const bool is_list = list.is_constant && list.data != nullptr && list.dims.size() <= 1 && list.size > 0 &&
                       (list.type == MSLITE_INT32 || list.type == MSLITE_INT64);
  return is_list && list.size <= kLongestList ? &list : nullptr;
}

template <typename Params>
void ReadList(mslite_longs Params::*attribute, Graph *graph, Node *node) {
  const Tensor *list = ListOperand(*graph, *node);
  if (list == nullptr || node->params == nullptr) return;
  auto *params = graph->arena.Make<Params>();
  *params = *static_cast<const Params *>(node->params);
  params->*attribute =
      list->type == MSLITE_INT32 ? Entries<int32_t>(*list, &graph->arena) : Entries<int64_t>(*list, &graph->arena);
  node->params = params;
  node->inputs.pop_back();
}
}  // namespace

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
    target.format = MSLITE_FORMAT_NHWC;  // so that no other Resize converts it again
  }
}

void ReadNearest(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (node.op != MSLITE_OP_Resize || node.params == nullptr) continue;
    const auto &stated = *static_cast<const mslite_Resize *>(node.params);
    const bool is_plain = stated.method == MSLITE_RESIZE_METHOD_NEAREST &&
                          stated.coordinate_transform_mode == MSLITE_COORDINATE_TRANSFORM_MODE_ASYMMETRIC;
    if (!is_plain || stated.nearest_mode != MSLITE_NEAREST_MODE_ROUND_HALF_DOWN) continue;
    auto *params = graph->arena.Make<mslite_Resize>();
    *params = stated;
    params->nearest_mode = MSLITE_NEAREST_MODE_FLOOR;
    node.params = params;
  }
}

void ReadScalarBias(Graph *graph) {
  std::vector<uint32_t> readers(graph->tensors.size(), 0);
  for (const Node &node : graph->nodes) {
    for (const int32_t input : node.inputs) {
      if (input >= 0) ++readers[static_cast<size_t>(input)];
    }
  }
  for (const Node &node : graph->nodes) {
    if (node.op != MSLITE_OP_MatMulFusion || node.params == nullptr || node.inputs.size() != 3) continue;
    if (node.inputs[1] < 0 || node.inputs[2] < 0 || readers[static_cast<size_t>(node.inputs[2])] != 1) continue;
    Tensor &bias = graph->tensors[static_cast<size_t>(node.inputs[2])];
    const bool is_scalar = bias.is_constant && bias.data != nullptr && bias.type == MSLITE_FLOAT32 &&
                           bias.size == sizeof(float) && bias.dims.size() <= 1;
    const int64_t columns = is_scalar ? ColumnsOf(*graph, node) : 0;
    if (columns == 0) continue;
    float value;
    std::memcpy(&value, bias.data, sizeof value);
    auto *values = graph->arena.MakeArray<float>(static_cast<size_t>(columns));
    std::fill_n(values, columns, value);
    bias.data = reinterpret_cast<const uint8_t *>(values);
    bias.size = static_cast<size_t>(columns) * sizeof(float);
    bias.dims = {columns};
  }
}

void ReadListOperands(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (node.op == MSLITE_OP_Split) ReadList(&mslite_Split::size_splits, graph, &node);
    if (node.op == MSLITE_OP_Squeeze) ReadList(&mslite_Squeeze::axis, graph, &node);
  }
}
}  // namespace mslite
