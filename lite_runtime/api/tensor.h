// What an MSTensor holds.
#ifndef MSLITE_API_TENSOR_H
#define MSLITE_API_TENSOR_H

#include <memory>
#include <string>
#include <vector>

#include "include/api/allocator.h"
#include "include/api/types.h"
#include "model/bytes.h"

namespace mslite {
struct Tensor;
}

namespace mindspore {
// A tensor of a model file as callers see it: name, type, shape, format and records, without contents.
MSTensor TensorFor(const mslite::Tensor &source);

class MSTensor::Impl {
 public:
  Impl() = default;
  Impl(std::string tensor_name, enum DataType data_type, std::vector<int64_t> dims)
      : name(std::move(tensor_name)), type(data_type), shape(std::move(dims)) {}
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;
  ~Impl() { Release(); }

  // Elements; -1 while a dimension is unknown or the product does not fit.
  int64_t ElementNum() const;
  // Bytes of the contents by type and shape; 0 while unknown.
  size_t DataSize() const;
  void *MutableData();
  void SetData(void *pointer, bool own);
  // Shows memory of the model, which is not the tensor's.
  void Show(const void *pointer, size_t size);
  // Copies `size` bytes; false without memory.
  bool Copy(const void *source, size_t size);
  void Release();

  std::string name;
  enum DataType type = DataType::kTypeUnknown;
  std::vector<int64_t> shape;
  mindspore::Format format = NHWC;
  std::vector<QuantParam> quant_params;
  bool rounds_half_to_even = false;
  std::shared_ptr<Allocator> allocator;
  bool is_const = false;
  void *data = nullptr;
  size_t size = 0;               // bytes at `data` where the shape does not say it (strings, buffers of callers)
  bool is_shown = false;         // `data` is memory of the model
  bool owns_data = false;        // `data` was handed over by SetData
  mslite::AlignedBuffer buffer;  // memory that the tensor allocated itself
  size_t capacity = 0;
};
}  // namespace mindspore

#endif
