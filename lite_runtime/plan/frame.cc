#include "plan/frame.h"

#include <algorithm>
#include <cstdint>

#include "plan/shapes.h"

namespace mslite {
namespace {
// The largest size of a value in bytes. The sum of a few such sizes does not overflow.
constexpr int64_t kMaximumBytes = std::min<int64_t>(INT64_MAX / 4, PTRDIFF_MAX);
}  // namespace

TensorShape ShapeOf(const mslite_tensor &tensor) {
  TensorShape shape;
  shape.type = tensor.type;
  shape.rank = tensor.rank;
  std::copy_n(tensor.dims, MSLITE_MAX_RANK, shape.dims);
  return shape;
}

mslite_tensor TensorOf(const TensorShape &shape) {
  mslite_tensor tensor = UnknownTensor();
  tensor.type = shape.type;
  tensor.rank = shape.rank;
  std::copy_n(shape.dims, MSLITE_MAX_RANK, tensor.dims);
  return tensor;
}

mslite_tensor ConstantTensor(const Tensor &constant) {
  mslite_tensor tensor = UnknownTensor();
  tensor.type = constant.type;
  tensor.rank = static_cast<int32_t>(constant.dims.size());
  std::copy(constant.dims.begin(), constant.dims.end(), tensor.dims);
  // An empty constant has no bytes in the file, but `data` must not be null: kernels recognize constants by it.
  static constexpr uint8_t kNothing[64] = {};
  tensor.data = constant.data == nullptr ? kNothing : constant.data;
  FillKnown(&tensor);
  tensor.quant_count = static_cast<int32_t>(constant.quant.size());
  tensor.quant = constant.quant.data();
  return tensor;
}

int64_t ByteSize(const TensorShape &shape) {
  const mslite_tensor tensor = TensorOf(shape);
  const int64_t count = mslite_element_count(&tensor);
  const int64_t element = shape.type == MSLITE_STRING ? 1 : mslite_type_size(shape.type);
  if (count < 0 || element == 0 || count > kMaximumBytes / element) return -1;
  return count * element;
}

uint8_t *GrowingBuffer::Reserve(uint64_t size, uint64_t most) {
  if (lent != nullptr && lent_size >= size) return lent;
  if (own == nullptr || capacity < size) {
    own.reset();
    own = MakeGrown(size, most, &capacity);
  }
  return own.get();
}
}  // namespace mslite
