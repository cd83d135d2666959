// MSTensor::Impl: the state of an MSTensor.
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
// Returns an MSTensor with the name, type, shape, format and quantization parameters of a tensor, without data.
MSTensor TensorFor(const mslite::Tensor &source);

class MSTensor::Impl {
 public:
  Impl() = default;
  Impl(std::string tensor_name, enum DataType data_type, std::vector<int64_t> dims)
      : name(std::move(tensor_name)), type(data_type), shape(std::move(dims)) {}
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;
  ~Impl() { Release(); }

  // Returns the number of elements; -1 if a dimension is unknown or the number overflows.
  int64_t ElementNum() const;
  // Returns the size in bytes; 0 if it is unknown.
  size_t DataSize() const;
  void *MutableData();
  void SetData(void *pointer, bool own);
  // Makes the tensor refer to memory of the model.
  void Show(const void *pointer, size_t size);
  // Copies `size` bytes. Returns false if memory is exhausted.
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
  size_t size = 0;               // bytes at `data`, which may differ from DataSize (strings, memory of callers)
  bool is_shown = false;         // `data` is memory of the model
  bool owns_data = false;        // SetData has passed the ownership of `data`
  mslite::AlignedBuffer buffer;  // memory that the tensor allocated itself
  size_t capacity = 0;
};
}  // namespace mindspore

#endif
