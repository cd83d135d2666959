// GraphBoundary: maps inputs and outputs of a backend's graph to those of its partition.
#ifndef MSLITE_DELEGATE_ENGINE_GRAPH_BOUNDARY_H
#define MSLITE_DELEGATE_ENGINE_GRAPH_BOUNDARY_H

#include <cstring>
#include <vector>

#include "engine/known_values.h"
#include "engine/part.h"

namespace mslite {
// Indices of the partition's inputs and outputs.
struct GraphBoundary {
  std::vector<size_t> inputs;   // inputs that an operation uses
  std::vector<size_t> outputs;  // outputs with unknown values
};

// Sets the inputs and outputs of a graph in the order of the partition. The draft lists its inputs in the order of
// their use. Errors: kLiteError for a tensor that is neither an input nor computed.
template <typename Draft>
Status MeetBorder(const Part &part, Draft *draft, GraphBoundary *border) {
  auto &graph = draft->graph;
  const auto tensor = [&](int32_t index) { return &part.tensors[static_cast<size_t>(index)].value; };
  const size_t entered = graph.inputs.size();
  graph.inputs.clear();
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const auto place = draft->values.find(tensor(part.inputs[i]));
    if (place == draft->values.end() || graph.operands[place->second].contents != nullptr) continue;
    graph.inputs.push_back(place->second);
    border->inputs.push_back(i);
  }
  if (graph.inputs.size() != entered) {
    return Fail(mindspore::kLiteError, "a node of the partition reads a tensor that is not an input of the partition");
  }
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    const auto value = draft->values.at(tensor(part.outputs[i]));
    if (graph.operands[value].contents != nullptr) continue;  // known
    graph.outputs.push_back(value);
    border->outputs.push_back(i);
  }
  return mindspore::kSuccess;
}

// Writes the outputs of a partition that have known values.
inline void CopyKnown(const Part &part, const std::vector<void *> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const mslite_tensor &output = part.tensors[static_cast<size_t>(part.outputs[i])].value;
    if (output.known_count <= 0 || output.known_count != CountIn(output)) continue;
    const std::vector<uint8_t> contents = KnownContents(output);
    std::memcpy(outputs[i], contents.data(), contents.size());
  }
}
}  // namespace mslite

#endif
