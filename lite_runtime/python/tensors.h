// Conversion of tensors between Python and C++: (name, dtype, shape, format) and NumPy arrays. Python only gets memory
// that NumPy arrays own, so no view can outlive its memory.
#ifndef MSLITE_PYTHON_TENSORS_H
#define MSLITE_PYTHON_TENSORS_H

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "buffer.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mslite::python {

namespace ms = mindspore;

/// Raises RuntimeError with the message of a status that is an error.
void Check(const ms::Status &status);

/// A tensor without its data: name, data type, shape (-1: unknown), format.
using Meta = std::tuple<std::string, int, std::vector<int64_t>, int64_t>;

/// A tensor with its data.
using Value = std::tuple<Meta, nb::object>;

Meta MetaOf(const ms::MSTensor &tensor);
std::vector<Meta> MetasOf(const std::vector<ms::MSTensor> &tensors);

/// Returns a new array for the data of a tensor. Raises TypeError for types that NumPy does not have.
nb::object EmptyArray(const ms::MSTensor &tensor);

/// Returns a copy of the data of a tensor. The model may reuse the tensor's memory.
nb::object CopyOf(const ms::MSTensor &tensor);

/// Returns a tensor of the C++ API that refers to the memory of an array. The memory must outlive the tensor.
ms::MSTensor Over(const Meta &meta, void *data, size_t bytes);

/// Tensors of the C++ API that refer to arrays. The arrays are kept alive until the destructor.
class BorrowedTensors {
 public:
  explicit BorrowedTensors(const std::vector<Value> &values);
  const std::vector<ms::MSTensor> &tensors() const { return tensors_; }

 private:
  std::vector<Buffer> memory_;
  std::vector<ms::MSTensor> tensors_;
};

}  // namespace mslite::python

#endif
