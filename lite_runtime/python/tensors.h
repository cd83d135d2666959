// Tensors at the border to Python: (name, dtype, shape, format) and NumPy arrays. Every byte that Python sees belongs
// to an array, so no view can outlive its memory.
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

/// Raises RuntimeError with the reason of a status that is no success.
void Check(const ms::Status &status);

/// What Python knows of a tensor: name, element type, shape (-1: unknown), format.
using Meta = std::tuple<std::string, int, std::vector<int64_t>, int64_t>;

/// A tensor with its contents.
using Value = std::tuple<Meta, nb::object>;

Meta MetaOf(const ms::MSTensor &tensor);
std::vector<Meta> MetasOf(const std::vector<ms::MSTensor> &tensors);

/// A new array for the contents of a tensor. Raises TypeError for an element type that NumPy does not have.
nb::object EmptyArray(const ms::MSTensor &tensor);

/// The contents of a tensor whose memory the model may use again.
nb::object CopyOf(const ms::MSTensor &tensor);

/// A tensor of the API over the memory of an array, which must outlive it.
ms::MSTensor Over(const Meta &meta, void *data, size_t bytes);

/// Tensors of the API over arrays, which are held as long as this lives.
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
