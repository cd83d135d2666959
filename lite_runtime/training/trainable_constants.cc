#include "training/trainable_constants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/bytes.h"
#include "model/dequantize.h"
#include "model/load.h"
#include "model/loader.h"
#include "model/optimizers.h"
#include "plan/frame.h"

namespace mslite {
namespace {
// Reads the sizes from a constant shape.
bool ReadShape(const Tensor &shape, std::vector<int64_t> *dims) {
  const auto element = static_cast<size_t>(std::max<int64_t>(ByteSize({shape.type, 0, {}}), 1));
  if (!shape.is_constant || (shape.type != MSLITE_INT32 && shape.type != MSLITE_INT64)) return false;
  if (shape.size > MSLITE_MAX_RANK * element) return false;
  for (size_t at = 0; at + element <= shape.size; at += element) {
    int32_t narrow = 0;
    int64_t wide = 0;
    std::memcpy(shape.type == MSLITE_INT32 ? static_cast<void *>(&narrow) : &wide, shape.data + at, element);
    dims->push_back(shape.type == MSLITE_INT32 ? narrow : wide);
  }
  return true;
}

Status Settle(const Node &node, const Tensor &value, const Tensor &shape, Graph *graph) {
  Tensor &filled = graph->tensors[static_cast<size_t>(node.outputs[0])];
  std::vector<int64_t> dims;
  int64_t count = 0;
  const auto element = static_cast<size_t>(std::max<int64_t>(ByteSize({value.type, 0, {}}), 1));
  if (!ReadShape(shape, &dims) || !CountElements(dims, &count) || value.size != element ||
      count > static_cast<int64_t>(MachineBytes() / element)) {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph->file->name() + "': " + Describe(node) + ": its shape or its value is invalid");
  }
  uint8_t *data = nullptr;
  MSLITE_TRY(AllocateConstant(graph, filled.name, count, static_cast<int64_t>(element), &data));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) std::memcpy(data + i * element, value.data, element);
  filled.type = value.type;
  filled.dims = std::move(dims);
  filled.has_rank = filled.is_constant = true;
  filled.data = data;
  filled.size = static_cast<size_t>(count) * element;
  return mindspore::kSuccess;
}

bool IsQuantized(const Tensor &tensor) {
  return tensor.is_constant && !tensor.quant.empty() && tensor.type != MSLITE_FLOAT32;
}

// Makes quantized weights that an optimizer updates float32. The loader has dequantized copies for some nodes, and
// integer matmuls read the integers; all of them read the same float32 weight then.
Status DequantizeTrained(size_t file_tensors, Graph *graph) {
  std::vector<Tensor> &tensors = graph->tensors;
  std::set<std::string> changed;
  for (const Node &node : graph->nodes) {
    if (FindOptimizer(node.op) == nullptr || node.inputs.empty()) continue;
    changed.insert(tensors[static_cast<size_t>(node.inputs[0])].name);
  }
  std::map<std::string, int32_t> places;
  for (size_t i = 0; i < file_tensors; ++i) {
    const bool is_changed = changed.count(tensors[i].name) != 0;
    if (is_changed && IsQuantized(tensors[i])) places[tensors[i].name] = static_cast<int32_t>(i);
  }
  Dequantizer dequantizer(graph);
  for (const int32_t index : graph->subgraphs[0].nodes) {
    Node &node = graph->nodes[static_cast<size_t>(index)];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      int32_t read = node.inputs[i];
      const auto place = places.find(tensors[static_cast<size_t>(read)].name);
      if (place == places.end()) continue;
      if (IsQuantized(tensors[static_cast<size_t>(place->second)])) {
        if (read == place->second) MSLITE_TRY(dequantizer.Constant(node, i, &read));
        tensors[static_cast<size_t>(place->second)] = tensors[static_cast<size_t>(read)];
      }
      node.inputs[i] = place->second;
    }
  }
  return mindspore::kSuccess;
}

Status ExpandFills(Graph *graph) {
  std::vector<int32_t> &nodes = graph->subgraphs[0].nodes;
  std::vector<int32_t> kept;
  for (const int32_t index : nodes) {
    const Node &node = graph->nodes[static_cast<size_t>(index)];
    const bool is_fill = node.op == MSLITE_OP_Fill || node.op == MSLITE_OP_FillV2;
    const bool is_constant = is_fill && node.inputs.size() >= 2 && !node.outputs.empty() &&
                             std::all_of(node.inputs.begin(), node.inputs.begin() + 2, [graph](int32_t input) {
                               const Tensor &tensor = graph->tensors[static_cast<size_t>(input)];
                               return tensor.is_constant && tensor.data != nullptr;
                             });
    if (!is_constant) {
      kept.push_back(index);
      continue;
    }
    const auto first = static_cast<size_t>(node.inputs[0]);
    const auto second = static_cast<size_t>(node.inputs[1]);
    const bool value_first = node.op == MSLITE_OP_Fill;
    MSLITE_TRY(Settle(node, graph->tensors[value_first ? first : second], graph->tensors[value_first ? second : first],
                      graph));
  }
  nodes = std::move(kept);
  return mindspore::kSuccess;
}
}  // namespace

Status LoadTrainableConstants(const std::shared_ptr<const Bytes> &file, std::shared_ptr<Graph> *graph) {
  MSLITE_TRY(LoadTraining(file, graph));
  MSLITE_TRY(DequantizeTrained(schema::GetMetaGraph(file->data())->allTensors()->size(), graph->get()));
  return ExpandFills(graph->get());
}

const uint8_t *VariableContents(const Tensor &constant, const VariableStore &variables) {
  const auto found = constant.is_constant ? variables.states.find(constant.name) : variables.states.end();
  if (found == variables.states.end()) return nullptr;
  const VariableState &state = found->second;
  const bool fits = state.shape.type == constant.type && ByteSize(state.shape) == static_cast<int64_t>(constant.size);
  return fits ? state.current.own.get() : nullptr;
}
}  // namespace mslite
