// Exports low-rank adapters, merged into the weights or as separate files.
#ifndef MSLITE_TRAINING_ADAPTERS_H
#define MSLITE_TRAINING_ADAPTERS_H

#include <memory>
#include <string>
#include <vector>

#include "exec/variables.h"
#include "model/graph.h"

namespace mindspore::schema {
struct MetaGraphT;
}

namespace mslite {
// Merges trained adapters into the weights of their matmuls, and removes their nodes. `graph` was read from the file of
// `model` and has the same tensors. Errors: kLiteGraphFileError for adapters that converter_lite has not made;
// kLiteNotSupport for a weight that is not float32.
Status MergeAdapters(const Graph &graph, const VariableStore &variables, mindspore::schema::MetaGraphT *model);

// Returns the bytes of an adapter's file with the trained variables `names`. The scale is multiplied into each B.
// Errors: kLiteNotSupport if the model has no adapters.
Status ExportAdapter(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &names,
                     const VariableStore &variables, std::vector<uint8_t> *adapter);
}  // namespace mslite

#endif
