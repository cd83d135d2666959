// Loads the bytes of a `.ms` file into a checked Graph.
#ifndef MSLITE_MODEL_LOAD_H
#define MSLITE_MODEL_LOAD_H

#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// Loads a model for inference. Verifies every offset, index, size and type before use, upgrades old versions to the
// current form and decodes packed constants. Errors: kLiteGraphFileError with file, node, operator and reason;
// kLiteNotSupport for a valid file whose version or packing is not supported; kLiteMemoryFailed.
MSLITE_INTERNAL_API Status Load(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph);
// As Load, but keeps the loss, gradients and optimizers of MindSpore's training graphs.
MSLITE_INTERNAL_API Status LoadTraining(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph);
// As Load, for a file that contains only constants and whose graph is named `name`. It is an error if the file is
// something else.
Status LoadConstants(std::shared_ptr<const Bytes> file, const std::string &name, std::shared_ptr<Graph> *graph);
// Returns the tensors that inference computes in a training graph, which contains optimizers that update constants.
// They are the inputs of the losses (nodes whose names contain one of `loss_names`), or the results of Softmax or
// activations that are applied to these inputs and that no other node reads. Returns an empty list for other graphs.
MSLITE_INTERNAL_API std::vector<int32_t> InferenceOutputs(const std::vector<std::string> &loss_names,
                                                          const Graph &graph);
// Removes the nodes of a training graph that inference does not need. Other graphs are not changed.
MSLITE_INTERNAL_API void PruneToInference(const std::vector<std::string> &loss_names, Graph *graph);
MSLITE_INTERNAL_API bool IsLoss(const Node &node, const std::vector<std::string> &loss_names);
// The parts of names that MindSpore Lite recognizes a loss by.
MSLITE_INTERNAL_API std::vector<std::string> DefaultLossNames();
}  // namespace mslite

#endif
