#include "plan/rewrite/bind_shapes.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "plan/shapes.h"

namespace mslite {
namespace {
bool IsKnownSize(int64_t value) { return value >= 0; }

// Sets the results of a node without a shape rule to the shapes in the file. They stay unknown if the file has none, or
// if the inputs have other shapes than in the file.
void TakeDeclared(const Node &node, const std::vector<const mslite_tensor *> &operands,
                  const std::vector<Tensor> &declared, std::vector<mslite_tensor> *results) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<int64_t> &dims = declared[static_cast<size_t>(node.inputs[i])].dims;
    const bool is_same = operands[i]->rank == static_cast<int32_t>(dims.size()) &&
                         std::equal(dims.begin(), dims.end(), operands[i]->dims);
    if (!is_same) return;
  }
  for (size_t i = 0; i < results->size(); ++i) {
    const Tensor &tensor = declared[static_cast<size_t>(node.outputs[i])];
    if (!tensor.has_rank && tensor.dims.empty()) continue;
    (*results)[i].type = tensor.type;
    (*results)[i].rank = static_cast<int32_t>(tensor.dims.size());
    std::copy(tensor.dims.begin(), tensor.dims.end(), (*results)[i].dims);
  }
}

// Returns whether all contents are known.
bool HasContents(const mslite_tensor &tensor) {
  return tensor.known_count >= 0 && std::all_of(tensor.dims, tensor.dims + std::max(tensor.rank, 0), IsKnownSize) &&
         std::none_of(tensor.known, tensor.known + tensor.known_count, mslite_is_symbol);
}

template <typename Number>
void Store(const mslite_tensor &from, uint8_t *memory) {
  for (int32_t i = 0; i < from.known_count; ++i) {
    const auto number = static_cast<Number>(from.known[i]);
    std::memcpy(memory + static_cast<size_t>(i) * sizeof number, &number, sizeof number);
  }
}

// Makes a constant of known contents. Returns false if contents of this data type are not stored.
bool MakeConstant(const mslite_tensor &from, Graph *graph, Tensor *tensor) {
  const auto size = static_cast<size_t>(from.known_count * mslite_type_size(from.type));
  AlignedBuffer memory = MakeAligned(std::max(size, size_t{1}));
  if (memory == nullptr) return false;
  switch (from.type) {
    case MSLITE_INT32:
      Store<int32_t>(from, memory.get());
      break;
    case MSLITE_INT64:
      Store<int64_t>(from, memory.get());
      break;
    case MSLITE_BOOL:
      Store<uint8_t>(from, memory.get());
      break;
    default:
      return false;
  }
  tensor->data = memory.get();
  tensor->size = size;
  tensor->is_constant = true;
  graph->decoded.push_back(std::move(memory));
  return true;
}
}  // namespace

void BindShapes(const std::vector<TensorShape> &inputs, Graph *graph) {
  SubGraph &main = graph->subgraphs[0];
  const std::vector<Tensor> declared = graph->tensors;
  std::vector<mslite_tensor> values;
  for (const Tensor &tensor : graph->tensors) {
    values.push_back(tensor.is_constant ? ConstantTensor(tensor) : UnknownTensor());
  }
  for (size_t i = 0; i < graph->inputs.size(); ++i) {
    const auto index = static_cast<size_t>(graph->inputs[i]);
    graph->tensors[index].dims.assign(inputs[i].dims, inputs[i].dims + inputs[i].rank);
    graph->tensors[index].has_rank = true;
    values[index] = TensorOf(inputs[i]);
  }
  const std::set<int32_t> returned(main.outputs.begin(), main.outputs.end());
  std::vector<int32_t> left;
  int64_t next_symbol = MSLITE_SYMBOL_LIMIT - 1;
  for (const int32_t number : main.nodes) {
    const Node &node = graph->nodes[static_cast<size_t>(number)];
    std::vector<const mslite_tensor *> operands;
    for (const int32_t input : node.inputs) operands.push_back(&values[static_cast<size_t>(input)]);
    std::vector<mslite_tensor> results(node.outputs.size(), UnknownTensor());
    const bool has_operands =
        std::all_of(operands.begin(), operands.end(), [](const mslite_tensor *operand) { return operand->rank >= 0; });
    bool is_folded = has_operands && node.params != nullptr && HasShapeRule(node.op) && !results.empty() &&
                     InferShapes(node.op, node.params, operands, &results, &next_symbol).ok();
    if (!is_folded) results.assign(node.outputs.size(), UnknownTensor());
    const bool has_rule = node.params != nullptr && HasShapeRule(node.op);
    if (!has_rule && has_operands) TakeDeclared(node, operands, declared, &results);
    for (size_t i = 0; i < results.size(); ++i) {
      const int32_t output = node.outputs[i];
      Tensor &tensor = graph->tensors[static_cast<size_t>(output)];
      values[static_cast<size_t>(output)] = results[i];
      if (results[i].rank >= 0 && std::all_of(results[i].dims, results[i].dims + results[i].rank, IsKnownSize)) {
        tensor.dims.assign(results[i].dims, results[i].dims + results[i].rank);
        tensor.has_rank = true;
      } else if (!has_rule) {
        tensor.dims.clear();
        tensor.has_rank = false;
      }
      is_folded = is_folded && returned.count(output) == 0 && results[i].type == tensor.type && HasContents(results[i]);
    }
    for (size_t i = 0; is_folded && i < results.size(); ++i) {
      is_folded = MakeConstant(results[i], graph, &graph->tensors[static_cast<size_t>(node.outputs[i])]);
    }
    if (!is_folded) left.push_back(number);
  }
  main.nodes = std::move(left);
}
}  // namespace mslite
