// The values of a running graph that outlive one plan: inputs, outputs, and values that later plans of the graph read.
#ifndef MSLITE_PLAN_FRAME_H
#define MSLITE_PLAN_FRAME_H

#include <cstdint>
#include <vector>

#include "kernel.h"
#include "model/bytes.h"
#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// Data type and shape. All dimensions are known.
struct TensorShape {
  int32_t type = 0;
  int32_t rank = 0;
  int64_t dims[MSLITE_MAX_RANK] = {};

  bool operator==(const TensorShape &other) const {
    if (type != other.type || rank != other.rank) return false;
    for (int32_t i = 0; i < rank; ++i) {
      if (dims[i] != other.dims[i]) return false;
    }
    return true;
  }
};

MSLITE_INTERNAL_API TensorShape ShapeOf(const mslite_tensor &tensor);
// Returns a tensor with this data type and shape, without contents.
mslite_tensor TensorOf(const TensorShape &shape);
// Returns a constant of the file in the form that kernels read.
mslite_tensor ConstantTensor(const Tensor &constant);
// Returns the size in bytes, or -1 if it exceeds the address space or the type has no size.
MSLITE_INTERNAL_API int64_t ByteSize(const TensorShape &shape);

// Memory that grows on demand and is not released. Memory `lent` by a caller is used instead if it is large enough.
struct GrowingBuffer {
  AlignedBuffer own;
  size_t capacity = 0;
  uint8_t *lent = nullptr;
  size_t lent_size = 0;

  // Returns memory for `size` bytes, or nullptr. Growing loses the contents and adds a quarter, limited to `most`.
  uint8_t *Reserve(uint64_t size, uint64_t most = UINT64_MAX);
};

struct Value {
  TensorShape shape;
  const uint8_t *data = nullptr;  // nullptr: not computed yet
  GrowingBuffer own;
  GrowingBuffer *target = nullptr;            // where to compute the value instead of in `own`
  const TensorShape *target_shape = nullptr;  // the shape that other readers of `target` need; null: any

  bool FitsTarget(const TensorShape &made) const { return target_shape == nullptr || made == *target_shape; }

  // Returns whether the memory of this value can be swapped with that of `other` without a copy: this value owns its
  // contents, and both buffers have the same capacity, so that neither value loses memory.
  bool MayHandTo(const Value &other) const {
    const bool is_owned = target == nullptr && data != nullptr && data == own.own.get();
    return is_owned && other.target == nullptr && other.own.capacity == own.capacity;
  }
};

struct Frame {
  std::vector<Value> values;  // per local tensor of the program
};
}  // namespace mslite

#endif
