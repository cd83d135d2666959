// What becomes of low-rank adapters in exported files.
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
// Adds what adapters have learned to the weights of their products, and takes their nodes out. `graph` has been read
// from the file of `model`, with the same tensors. Errors: kLiteGraphFileError for adapters of another form than
// converter_lite gives them; kLiteNotSupport for a weight that is not float32.
Status MergeAdapters(const Graph &graph, const VariableStore &variables, mindspore::schema::MetaGraphT *model);

// The bytes of an adapter's file: the variables that are trained, `names`; the scale becomes a part of each B. Errors:
// kLiteNotSupport where the model has no adapters.
Status ExportAdapter(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &names,
                     const VariableStore &variables, std::vector<uint8_t> *adapter);
}  // namespace mslite

#endif
