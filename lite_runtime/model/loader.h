// The stages of loading, for a buffer that the FlatBuffers verifier has accepted.
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

// Returns the version: "MindSpore Lite 1.8.1" -> 1.8.1. Anything else gives 0.0.0.
Version ParseVersion(const std::string &text);
// Returns the version in a file of the first schema (1.0, 1.1); empty if there is none.
std::string LegacyVersion(const Bytes &file);

// Adds quantization parameters to the tensor, with `scale` as the scale.
void AddQuantParams(const schema::QuantParam &record, double scale, Tensor *tensor);
Status LoadTensors(Loader *loader);
Status LoadNodes(Loader *loader);
Status LoadSubGraphs(Loader *loader);
// Checks that every node has the inputs and outputs that its operator requires. Kernels and rewriting passes rely on
// it.
Status CheckOperands(const Loader &loader);
// Returns whether the bytes of a constant are not its elements, so that DecodeConstants must unpack them.
bool HasPackedBytes(const schema::Tensor &source);
// Converts constants to the form that kernels read: float16 and quantized weights become float32.
Status DecodeConstants(Loader *loader);

// Reads the description of a tensor list.
Status LoadList(const Loader &loader, const std::string &label, Tensor *tensor);
// Makes lists constants that no node produces and that are not graph inputs.
Status MakeConstantLists(Loader *loader);

// Finds the bytes of the constant in the side file.
Status ReadSideFile(Loader *loader, const schema::Tensor &tensor, const std::string &name, const uint8_t **data,
                    size_t *size);

// Counts the elements of a known shape. Returns false if a dimension is unknown or the product exceeds 63 bits.
MSLITE_INTERNAL_API bool CountElements(const std::vector<int64_t> &dims, int64_t *count);
}  // namespace mslite

#endif
