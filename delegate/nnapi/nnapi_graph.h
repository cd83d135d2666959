// NnapiGraph: a graph for NNAPI, with operands, which are identified by index, and operations.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_GRAPH_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_GRAPH_H

#include <cstdint>
#include <deque>
#include <vector>

#include "nnapi/nnapi_codes.h"

namespace mslite {
struct NnapiOperand {
  int32_t type = NNAPI_TENSOR_FLOAT32;
  std::vector<uint32_t> dims;  // empty: a scalar
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> scales;  // per channel, for NNAPI_TENSOR_QUANT8_SYMM_PER_CHANNEL
  uint32_t channel_dimension = 0;
  const void *contents = nullptr;  // data of a constant; must outlive the graph
  size_t bytes = 0;
};

struct NnapiOperation {
  int32_t code;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

struct NnapiGraph {
  std::vector<NnapiOperand> operands;
  std::vector<NnapiOperation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  std::deque<std::vector<uint8_t>> own;  // data of constants that the graph owns
};
}  // namespace mslite

#endif
