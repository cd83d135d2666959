// Constants that are quantized integers, as float32.
#ifndef MSLITE_MODEL_DEQUANTIZE_H
#define MSLITE_MODEL_DEQUANTIZE_H

#include <map>
#include <string>
#include <tuple>

#include "model/graph.h"

namespace mslite {
// Why the quantization records of the tensor cannot be used; "" when they can. A scale is finite and positive (a
// constant's may be 0: all its values are 0), a zero point lies in the range of the element type.
std::string RecordProblem(const Tensor &tensor);

// True when a constant is not what its scales say alone. A single record has no correction, whatever the file says.
bool IsCorrected(const Tensor &tensor);

// Makes float32 copies of constants, each once: real = scale * (q - zero point), with one record per channel then
// * variance + mean of its correction. Memory of the copies belongs to the graph.
class Dequantizer {
 public:
  explicit Dequantizer(Graph *graph) : graph_(graph) {}

  // The tensor that holds the float32 form of constant input `input` of `node`, by its own records: one, or one for
  // each entry of the dimension that the operator and the version of the file say. Errors: kLiteGraphFileError with
  // node and reason, kLiteMemoryFailed.
  MSLITE_INTERNAL_API Status Constant(const Node &node, size_t input, int32_t *tensor);

  // The same with the channels in dimension `axis`, counted from the front.
  Status AlongAxis(const Node &node, size_t input, int32_t axis, int32_t *tensor);

  // The same for an int32 or int64 bias (input 2) whose records are missing or have no scale: it has the scale of the
  // input times that of the weight, and zero point 0.
  Status Bias(const Node &node, int32_t *tensor);

 private:
  // Tensor, dimension of the channels, tensors that the records were taken from.
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t>;

  Status Make(const Node &node, const Key &key, const std::vector<mslite_quant> &records,
              const std::vector<Correction> &corrections, int32_t *tensor);
  Status Error(const Node &node, const std::string &reason) const;

  Graph *graph_;
  std::map<Key, int32_t> made_;
};

// Adds memory for a rewritten constant to the graph. Errors: kLiteMemoryFailed.
MSLITE_INTERNAL_API Status AllocateConstant(Graph *graph, const std::string &name, int64_t count, int64_t element,
                                            uint8_t **data);
}  // namespace mslite

#endif
