// From the bytes of a `.ms` file to a checked Graph.
#ifndef MSLITE_MODEL_LOAD_H
#define MSLITE_MODEL_LOAD_H

#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// Verifies every offset, index, size and type before use, brings old versions to the current form and decodes packed
// constants. Errors: kLiteGraphFileError with file, node, operator and reason; kLiteNotSupport for a legal file whose
// version or packing is not supported; kLiteMemoryFailed.
MSLITE_INTERNAL_API Status Load(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph);
// As above; of a training graph of MindSpore, all stays: its loss, gradients and optimizers, too.
MSLITE_INTERNAL_API Status LoadTraining(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph);
// As Load, from a file of this name inside that holds constants alone. Errors also for one that is something else.
Status LoadConstants(std::shared_ptr<const Bytes> file, const std::string &name, std::shared_ptr<Graph> *graph);
// What inference gives of a training graph, whose optimizers change constants where they are: the tensors that the
// losses, nodes whose names contain one of these texts, are computed of, or what a Softmax or an activation makes of
// them that nobody reads. None of other graphs.
MSLITE_INTERNAL_API std::vector<int32_t> InferenceResults(const std::vector<std::string> &loss_names,
                                                          const Graph &graph);
// Of a training graph only the part for inference stays. Other graphs stay as they are.
MSLITE_INTERNAL_API void KeepInference(const std::vector<std::string> &loss_names, Graph *graph);
MSLITE_INTERNAL_API bool IsLoss(const Node &node, const std::vector<std::string> &loss_names);
// By which MindSpore Lite knows a loss.
MSLITE_INTERNAL_API std::vector<std::string> DefaultLossNames();
}  // namespace mslite

#endif
