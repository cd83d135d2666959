// TensorInfo: the description of a tensor in Python, and its conversion to and from mslite_tensor.
#ifndef MSLITE_PYTHON_TENSOR_INFO_H
#define MSLITE_PYTHON_TENSOR_INFO_H

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "buffer.h"
#include "kernel.h"

namespace mslite::python {

/// A tensor: data type, dimensions (None: unknown rank), known values, data and quantization parameters.
struct TensorInfo {
  int32_t dtype = 0;
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::vector<int64_t>> known;
  nb::object data = nb::none();
  std::vector<std::tuple<double, int32_t, int32_t>> quant;
  bool rounds_even = false;
};

/// Tensors as mslite_tensor, with the buffers and quantization parameters that they point to.
class TensorViews {
 public:
  /// Raises ValueError for an invalid rank, dimension or data size.
  explicit TensorViews(const std::vector<TensorInfo> &infos);

  std::vector<mslite_tensor> tensors;
  std::vector<const mslite_tensor *> Pointers() const;

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::vector<mslite_quant>> quants_;
};

/// Converts an inferred tensor to a TensorInfo.
TensorInfo ToInfo(const mslite_tensor &tensor);

/// Returns an uninitialized NumPy array for a tensor with known dimensions. Raises TypeError for types that NumPy does
/// not have.
nb::object EmptyArray(const mslite_tensor &tensor);

}  // namespace mslite::python

#endif
