// Updates the subgraph of files that have one.
#ifndef MSLITE_TRAINING_MAIN_GRAPH_H
#define MSLITE_TRAINING_MAIN_GRAPH_H

#include <numeric>

#include "schema/ops_objects.h"

namespace mslite {
// Sets the main graph to all nodes and tensors of the file, and to its inputs and outputs.
inline void DescribeMainGraph(mindspore::schema::MetaGraphT *model) {
  if (model->subGraph.empty()) return;
  mindspore::schema::SubGraphT &main = *model->subGraph[0];
  main.inputIndices = model->inputIndex;
  main.outputIndices = model->outputIndex;
  main.nodeIndices.resize(model->nodes.size());
  std::iota(main.nodeIndices.begin(), main.nodeIndices.end(), 0U);
  main.tensorIndices.resize(model->allTensors.size());
  std::iota(main.tensorIndices.begin(), main.tensorIndices.end(), 0U);
}
}  // namespace mslite

#endif
