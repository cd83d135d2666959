// Dequantizes constants to float32.
#ifndef MSLITE_MODEL_DEQUANTIZE_H
#define MSLITE_MODEL_DEQUANTIZE_H

#include <map>
#include <string>
#include <tuple>

#include "model/graph.h"

namespace mslite {
// Returns the reason why the quantization parameters of the tensor are invalid, or "". A scale must be finite and
// positive (0 is valid for a constant: all its values are 0), a zero point must be in the range of the data type.
std::string QuantParamsProblem(const Tensor &tensor);

// Returns whether a constant has corrections in addition to its scales. They are ignored if there is only one scale.
bool HasCorrections(const Tensor &tensor);

// Makes float32 copies of constants, one for each: real = scale * (q - zero point); per channel also * variance + mean
// of the correction. The graph owns the memory of the copies.
class Dequantizer {
 public:
  explicit Dequantizer(Graph *graph) : graph_(graph) {}

  // Finds or makes the float32 form of constant input `input` of `node`, with its own quantization parameters: one, or
  // one per entry of the dimension that the operator and the file version define. Errors: kLiteGraphFileError with node
  // and reason, kLiteMemoryFailed.
  MSLITE_INTERNAL_API Status Constant(const Node &node, size_t input, int32_t *tensor);

  // As Constant, with the channels in dimension `axis`, counted from the front.
  Status AlongAxis(const Node &node, size_t input, int32_t axis, int32_t *tensor);

  // As Constant, for an int32 or int64 bias (input 2) without a scale: its scale is the scale of the input times that
  // of the weight, its zero point 0.
  Status Bias(const Node &node, int32_t *tensor);

 private:
  // The tensor, the dimension of the channels, and the tensors that the quantization parameters were taken from.
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t>;

  Status Make(const Node &node, const Key &key, const std::vector<mslite_quant> &records,
              const std::vector<Correction> &corrections, int32_t *tensor);
  Status Error(const Node &node, const std::string &reason) const;

  Graph *graph_;
  std::map<Key, int32_t> made_;
};

// Allocates memory for a rewritten constant, owned by the graph. Errors: kLiteMemoryFailed.
MSLITE_INTERNAL_API Status AllocateConstant(Graph *graph, const std::string &name, int64_t count, int64_t element,
                                            uint8_t **data);
}  // namespace mslite

#endif
