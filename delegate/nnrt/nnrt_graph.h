// A graph that is to become a model of NNRT: tensors, which are known by their numbers, and operations on them.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_GRAPH_H
#define MSLITE_DELEGATE_NNRT_NNRT_GRAPH_H

#include <cstdint>
#include <deque>
#include <vector>

#include "nnrt/nnrt_codes.h"

namespace mslite {
struct NnrtOperand {
  NnrtType type = NNRT_FLOAT32;
  std::vector<int32_t> dims;  // none: a single number
  NnrtRole role = NNRT_TENSOR;
  const void *contents = nullptr;  // of a constant; must outlive the graph
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
  std::deque<std::vector<uint8_t>> own;  // contents that were made for the graph
};
}  // namespace mslite

#endif
