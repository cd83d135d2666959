// NnrtGraph: a graph for NNRT, with tensors, which are identified by index, and operations.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_GRAPH_H
#define MSLITE_DELEGATE_NNRT_NNRT_GRAPH_H

#include <cstdint>
#include <deque>
#include <vector>

#include "nnrt/nnrt_codes.h"

namespace mslite {
struct NnrtOperand {
  NnrtType type = NNRT_FLOAT32;
  std::vector<int32_t> dims;  // empty: a scalar
  NnrtRole role = NNRT_TENSOR;
  const void *contents = nullptr;  // data of a constant; must outlive the graph
  size_t bytes = 0;
};

struct NnrtOperation {
  NnrtCode code;
  std::vector<uint32_t> attributes;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

struct NnrtGraph {
  std::vector<NnrtOperand> operands;
  std::vector<NnrtOperation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  std::deque<std::vector<uint8_t>> own;  // data of constants that the graph owns
};
}  // namespace mslite

#endif
