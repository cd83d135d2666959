// The values of a running graph that outlive one plan: inputs, outputs, and what later parts of the graph still need.
#ifndef MSLITE_PLAN_FRAME_H
#define MSLITE_PLAN_FRAME_H

#include <cstdint>
#include <vector>

#include "kernel.h"
#include "model/bytes.h"
#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// Type and shape. All dimensions are known.
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
// The tensor with that type and shape, contents unknown.
mslite_tensor TensorOf(const TensorShape &shape);
// A constant of a file as kernels see it.
mslite_tensor ConstantTensor(const Tensor &constant);
// Bytes, or -1 when they are more than addresses reach or the type has no size.
MSLITE_INTERNAL_API int64_t ByteSize(const TensorShape &shape);

// Memory that grows when it must and is kept. `lent` memory of a caller is used instead where it is large enough.
struct GrowingBuffer {
  AlignedBuffer own;
  size_t capacity = 0;
  uint8_t *lent = nullptr;
  size_t lent_size = 0;

  // Room for `size` bytes, or nullptr. Contents are lost when it grows, by a quarter if that is no more than `most`.
  uint8_t *Reserve(uint64_t size, uint64_t most = UINT64_MAX);
};

struct Value {
  TensorShape shape;
  const uint8_t *data = nullptr;  // nullptr: not computed yet
  GrowingBuffer own;
  GrowingBuffer *target = nullptr;            // where to compute it instead of `own`
  const TensorShape *target_shape = nullptr;  // of what others read there, which it must have, too; or null: any

  bool FitsTarget(const TensorShape &made) const { return target_shape == nullptr || made == *target_shape; }

  // The contents lie in memory that is this value's alone, and the other one has as much to give in return: exchanging
  // the two copies nothing, and no value ever has less memory than it had before.
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
