// What Python tells of a tensor, and what it hears back.
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

/// A tensor before anything runs: element type, dimensions (None: unknown rank), known contents, quantization records.
struct TensorInfo {
  int32_t dtype = 0;
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::vector<int64_t>> known;
  nb::object data = nb::none();
  std::vector<std::tuple<double, int32_t, int32_t>> quant;
  bool rounds_even = false;
};

/// The C form of tensors, with the buffers and quantization records that it points to.
class TensorViews {
 public:
  /// Raises ValueError for an impossible rank, dimension, or size of the data.
  explicit TensorViews(const std::vector<TensorInfo> &infos);

  std::vector<mslite_tensor> tensors;
  std::vector<const mslite_tensor *> Pointers() const;

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::vector<mslite_quant>> quants_;
};

/// The Python form of an inferred tensor.
TensorInfo ToInfo(const mslite_tensor &tensor);

/// An uninitialized numpy array for a tensor whose dimensions are known. Raises TypeError for a type that numpy lacks.
nb::object EmptyArray(const mslite_tensor &tensor);

}  // namespace mslite::python

#endif
