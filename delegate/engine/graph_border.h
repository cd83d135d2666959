// How the graph that an engine has written of a part meets the model around it.
#ifndef MSLITE_DELEGATE_ENGINE_GRAPH_BORDER_H
#define MSLITE_DELEGATE_ENGINE_GRAPH_BORDER_H

#include <cstring>
#include <vector>

#include "engine/known_values.h"
#include "engine/part.h"

namespace mslite {
// Numbers in the lists of a part's inputs and outputs.
struct GraphBorder {
  std::vector<size_t> inputs;   // others are used by no operation
  std::vector<size_t> outputs;  // others are known
};

// Gives the graph of a draft its inputs and outputs, in the order of the part's. While it was written, it noted its
// inputs in the order of their use. Errors: kLiteError for an operand that comes from nowhere.
template <typename Draft>
Status MeetBorder(const Part &part, Draft *draft, GraphBorder *border) {
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
    return Fail(mindspore::kLiteError, "an operand enters the part that is none of its inputs");
  }
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    const auto value = draft->values.at(tensor(part.outputs[i]));
    if (graph.operands[value].contents != nullptr) continue;  // known
    graph.outputs.push_back(value);
    border->outputs.push_back(i);
  }
  return mindspore::kSuccess;
}

// Writes the outputs of a part that are known before it runs.
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
