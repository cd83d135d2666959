// The stages of loading. Each is given a buffer that the FlatBuffers verifier has passed.
#ifndef MSLITE_MODEL_LOADER_H
#define MSLITE_MODEL_LOADER_H

#include <string>

#include "model/graph.h"
#include "model/internal_api.h"
#include "schema/ops_generated.h"

namespace mslite {
struct Loader {
  const schema::MetaGraph *meta = nullptr;
  Graph *graph = nullptr;

  Status Error(const std::string &reason) const {
    return Fail(mindspore::kLiteGraphFileError, "file '" + graph->file->name() + "': " + reason);
  }
  Status Unsupported(const std::string &reason) const {
    return Fail(mindspore::kLiteNotSupport, "file '" + graph->file->name() + "': " + reason);
  }
};

// "MindSpore Lite 1.8.1" -> 1.8.1; anything else counts as 0.0.0, which readers treat as old.
Version ParseVersion(const std::string &text);
// The version that a file of the first schema (1.0, 1.1) names; empty when none can be found.
std::string LegacyVersion(const Bytes &file);

// Adds a record to the tensor; `scale` is what it means by its scale.
void AddRecord(const schema::QuantParam &record, double scale, Tensor *tensor);
Status LoadTensors(Loader *loader);
Status LoadNodes(Loader *loader);
Status LoadSubGraphs(Loader *loader);
// Every node that runs has the operands that its operator must have: kernels and rewrites use them without looking.
Status CheckOperands(const Loader &loader);
// Whether the bytes of a constant are other than its type and dimensions say: DecodeConstants unpacks them.
bool HasPackedBytes(const schema::Tensor &source);
// Rewrites constants into the form that kernels read: float16 and quantized weights become float32.
Status DecodeConstants(Loader *loader);

// Reads what the file says of a tensor list.
Status LoadList(const Loader &loader, const std::string &label, Tensor *tensor);
// Lists that no node makes and no graph receives become constants.
Status SettleLists(Loader *loader);

// The bytes of the given constant in the side file.
Status ReadSideFile(Loader *loader, const schema::Tensor &tensor, const std::string &name, const uint8_t **data,
                    size_t *size);

// Elements of a fully known shape; false when a dimension is unknown or the product does not fit into 63 bits.
MSLITE_INTERNAL_API bool CountElements(const std::vector<int64_t> &dims, int64_t *count);
}  // namespace mslite

#endif
