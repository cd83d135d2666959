// Loads and checks the subgraphs: producers of tensors and the order of nodes.
#include <algorithm>

#include "model/loader.h"

namespace mslite {
namespace {
using Indices = flatbuffers::Vector<uint32_t>;

Status TensorIndices(const Loader &loader, const Indices *source, const std::string &where,
                     std::vector<int32_t> *result) {
  if (source == nullptr) return mindspore::kSuccess;
  for (const uint32_t index : *source) {
    if (index >= loader.graph->tensors.size()) {
      return loader.Error(where + Format(" refer to tensor %u of %zu", index, loader.graph->tensors.size()));
    }
    result->push_back(static_cast<int32_t>(index));
  }
  return mindspore::kSuccess;
}

bool Contains(const std::vector<int32_t> &list, int32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

enum : int32_t { kNobody = -1, kGraphInput = -2 };

// Finds the producer of each tensor of the subgraph: a node, the graph's input, or none (constants).
Status FindProducers(const Loader &loader, const SubGraph &subgraph, std::vector<int32_t> *producers) {
  const Graph &graph = *loader.graph;
  producers->assign(graph.tensors.size(), kNobody);
  for (const int32_t input : subgraph.inputs) {
    if (graph.tensors[static_cast<size_t>(input)].is_constant) {
      return loader.Error("graph '" + subgraph.name + "': its input '" +
                          graph.tensors[static_cast<size_t>(input)].name + "' has constant data");
    }
    (*producers)[static_cast<size_t>(input)] = kGraphInput;
  }
  for (const int32_t index : subgraph.nodes) {
    const Node &node = graph.nodes[static_cast<size_t>(index)];
    for (const int32_t output : node.outputs) {
      int32_t &producer = (*producers)[static_cast<size_t>(output)];
      const std::string name = "tensor '" + graph.tensors[static_cast<size_t>(output)].name + "'";
      if (producer == kGraphInput) return loader.Error(Describe(node) + ": writes the graph's input " + name);
      if (producer != kNobody) {
        return loader.Error(Describe(node) + ": writes " + name + ", as does " +
                            Describe(graph.nodes[static_cast<size_t>(producer)]));
      }
      producer = index;
    }
  }
  return mindspore::kSuccess;
}

// Sorts the nodes topologically; keeps the order of the file if it is valid. Fails on a cycle.
Status SortNodes(const Loader &loader, const std::vector<int32_t> &producers, SubGraph *subgraph) {
  const Graph &graph = *loader.graph;
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(graph.nodes.size(), kNew);
  std::vector<int32_t> order;
  std::vector<std::pair<int32_t, size_t>> stack;  // node, next input to visit
  for (const int32_t first : subgraph->nodes) {
    if (state[static_cast<size_t>(first)] == kDone) continue;
    stack.emplace_back(first, 0);
    state[static_cast<size_t>(first)] = kOpen;
    while (!stack.empty()) {
      const int32_t index = stack.back().first;
      const Node &node = graph.nodes[static_cast<size_t>(index)];
      if (stack.back().second == node.inputs.size()) {
        state[static_cast<size_t>(index)] = kDone;
        order.push_back(index);
        stack.pop_back();
        continue;
      }
      const int32_t tensor = node.inputs[stack.back().second++];
      const int32_t producer = producers[static_cast<size_t>(tensor)];
      if (producer == kNobody && !graph.tensors[static_cast<size_t>(tensor)].is_constant) {
        return loader.Error(Describe(node) + ": no node produces its input tensor '" +
                            graph.tensors[static_cast<size_t>(tensor)].name + "'");
      }
      if (producer < 0 || state[static_cast<size_t>(producer)] == kDone) continue;
      if (state[static_cast<size_t>(producer)] == kOpen) {
        return loader.Error(Describe(node) + ": is part of a cycle");
      }
      state[static_cast<size_t>(producer)] = kOpen;
      stack.emplace_back(producer, 0);
    }
  }
  subgraph->nodes = std::move(order);
  return mindspore::kSuccess;
}

Status CheckSubGraph(const Loader &loader, SubGraph *subgraph) {
  std::vector<int32_t> producers;
  MSLITE_TRY(FindProducers(loader, *subgraph, &producers));
  MSLITE_TRY(SortNodes(loader, producers, subgraph));
  for (const int32_t output : subgraph->outputs) {
    const Tensor &tensor = loader.graph->tensors[static_cast<size_t>(output)];
    if (producers[static_cast<size_t>(output)] == kNobody && !tensor.is_constant) {
      return loader.Error("graph '" + subgraph->name + "': no node produces its output '" + tensor.name + "'");
    }
  }
  return mindspore::kSuccess;
}

Status LoadOne(const Loader &loader, const schema::SubGraph &source, size_t index, std::vector<uint8_t> *used,
               SubGraph *subgraph) {
  const Graph &graph = *loader.graph;
  const std::string where = Format("graph %zu: its ", index);
  subgraph->name = source.name() == nullptr ? Format("%zu", index) : CleanText(source.name()->str());
  MSLITE_TRY(TensorIndices(loader, source.inputIndices(), where + "inputs", &subgraph->inputs));
  MSLITE_TRY(TensorIndices(loader, source.outputIndices(), where + "outputs", &subgraph->outputs));
  std::vector<int32_t> all;
  MSLITE_TRY(TensorIndices(loader, source.tensorIndices(), where + "tensors", &all));
  if (source.nodeIndices() == nullptr) return mindspore::kSuccess;
  for (const uint32_t node : *source.nodeIndices()) {
    if (node >= graph.nodes.size()) {
      return loader.Error(where + Format("nodes refer to node %u of %zu", node, graph.nodes.size()));
    }
    if ((*used)[node]) return loader.Error(where + Format("node %u is listed twice", node));
    (*used)[node] = 1;
    subgraph->nodes.push_back(static_cast<int32_t>(node));
  }
  return mindspore::kSuccess;
}

Status CheckModelInterface(const Loader &loader) {
  Graph &graph = *loader.graph;
  if (graph.outputs.empty()) return loader.Error("the model has no outputs");
  const auto belongs = [&graph](int32_t tensor, std::vector<int32_t> SubGraph::*list) {
    return std::any_of(graph.subgraphs.begin(), graph.subgraphs.end(),
                       [&](const SubGraph &subgraph) { return Contains(subgraph.*list, tensor); });
  };
  for (const int32_t input : graph.inputs) {
    Tensor &tensor = graph.tensors[static_cast<size_t>(input)];
    if (!belongs(input, &SubGraph::inputs))
      return loader.Error("model input '" + tensor.name + "' belongs to no graph");
    const bool is_number = tensor.type >= MSLITE_BOOL && tensor.type <= MSLITE_FLOAT64;
    if (!is_number && tensor.type != MSLITE_STRING) {
      return loader.Error("model input '" + tensor.name + "' has type " + TypeName(tensor.type));
    }
    if (!tensor.dims.empty()) tensor.has_rank = true;
    for (int64_t &dim : tensor.dims) dim = dim == 0 ? -1 : dim;
  }
  for (const int32_t output : graph.outputs) {
    if (!belongs(output, &SubGraph::outputs)) {
      return loader.Error("model output '" + graph.tensors[static_cast<size_t>(output)].name + "' belongs to no graph");
    }
  }
  const std::vector<int32_t> &main = graph.subgraphs[0].inputs;
  if (main.size() != graph.inputs.size() ||
      !std::all_of(main.begin(), main.end(), [&graph](int32_t input) { return Contains(graph.inputs, input); })) {
    return loader.Error("the inputs of the model differ from those of its main graph");
  }
  return mindspore::kSuccess;
}
}  // namespace

Status LoadSubGraphs(Loader *loader) {
  Graph &graph = *loader->graph;
  MSLITE_TRY(TensorIndices(*loader, loader->meta->inputIndex(), "the model's inputs", &graph.inputs));
  MSLITE_TRY(TensorIndices(*loader, loader->meta->outputIndex(), "the model's outputs", &graph.outputs));
  const auto *sources = loader->meta->subGraph();
  if (sources == nullptr || sources->size() == 0) {
    SubGraph whole;
    whole.name = "main_graph";
    whole.inputs = graph.inputs;
    whole.outputs = graph.outputs;
    for (size_t i = 0; i < graph.nodes.size(); ++i) whole.nodes.push_back(static_cast<int32_t>(i));
    graph.subgraphs.push_back(std::move(whole));
  } else {
    std::vector<uint8_t> used(graph.nodes.size(), 0);
    for (size_t i = 0; i < sources->size(); ++i) {
      SubGraph subgraph;
      MSLITE_TRY(LoadOne(*loader, *sources->Get(static_cast<flatbuffers::uoffset_t>(i)), i, &used, &subgraph));
      graph.subgraphs.push_back(std::move(subgraph));
    }
  }
  MSLITE_TRY(MakeConstantLists(loader));
  for (SubGraph &subgraph : graph.subgraphs) MSLITE_TRY(CheckSubGraph(*loader, &subgraph));
  for (const Node &node : graph.nodes) {
    if (node.op != MSLITE_OP_PartialFusion) continue;
    const int64_t target = static_cast<const mslite_PartialFusion *>(node.params)->sub_graph_index;
    if (target < 0 || target >= static_cast<int64_t>(graph.subgraphs.size())) {
      return loader->Error(Describe(node) + Format(": refers to graph %lld of %zu", static_cast<long long>(target),
                                                   graph.subgraphs.size()));
    }
    if (node.inputs.size() != graph.subgraphs[static_cast<size_t>(target)].inputs.size()) {
      return loader->Error(Describe(node) + ": calls graph '" + graph.subgraphs[static_cast<size_t>(target)].name +
                           "' with a wrong number of arguments");
    }
  }
  return CheckModelInterface(*loader);
}
}  // namespace mslite
