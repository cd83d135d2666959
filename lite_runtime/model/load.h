// From the bytes of a `.ms` file to a checked Graph.
#ifndef MSLITE_MODEL_LOAD_H
#define MSLITE_MODEL_LOAD_H

#include <memory>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// Verifies every offset, index, size and type before use, brings old versions to the current form and decodes packed
// constants. Errors: kLiteGraphFileError with file, node, operator and reason; kLiteNotSupport for a legal file whose
// version or packing is not supported; kLiteMemoryFailed.
MSLITE_INTERNAL_API Status Load(std::shared_ptr<const Bytes> file, std::shared_ptr<Graph> *graph);
}  // namespace mslite

#endif
