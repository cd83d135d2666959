#include "api/input_sizes.h"

#include <algorithm>
#include <array>
#include <string>

namespace mslite {
namespace {
struct Place {
  size_t input = 0;
  size_t axis = 0;
};

const Tensor &InputOf(const Graph &graph, size_t index) {
  return graph.tensors[static_cast<size_t>(graph.inputs[index])];
}

// Returns the dimensions in the file. The loader sets a size of 0 to -1 (dynamic).
std::vector<int64_t> DimsInFile(const Tensor &tensor) {
  std::vector<int64_t> dims = tensor.dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0 && SizeMark(tensor, axis) == kFixedSizeMark) dims[axis] = 0;
  }
  return dims;
}

std::string Shown(const TensorShape &shape) {
  return DimsText(shape.dims, static_cast<size_t>(std::max(shape.rank, int32_t{0})));
}

// "input 'x' has the shape [1, 10]".
std::string Given(const Graph &graph, size_t index, const TensorShape &shape) {
  return "input '" + InputOf(graph, index).name + "' has the shape " + Shown(shape);
}

std::string NotFixed(const Graph &graph, size_t index, const TensorShape &shape) {
  const std::vector<int64_t> dims = DimsInFile(InputOf(graph, index));
  return Given(graph, index, shape) + ", but the model was converted for " + DimsText(dims.data(), dims.size()) +
         ". Convert it with the sizes that it will run with, or with -1 in --inputShape for dynamic dimensions";
}

std::string NotEqual(const Graph &graph, const Place &first, const TensorShape &first_shape, const Place &second,
                     const TensorShape &second_shape) {
  if (first.input == second.input) {
    return Given(graph, second.input, second_shape) + ", but its dimensions " + std::to_string(first.axis) + " and " +
           std::to_string(second.axis) + " must be equal";
  }
  return Given(graph, second.input, second_shape) + " and " + Given(graph, first.input, first_shape) +
         ", but dimension " + std::to_string(second.axis) + " of '" + InputOf(graph, second.input).name +
         "' and dimension " + std::to_string(first.axis) + " of '" + InputOf(graph, first.input).name +
         "' must be equal";
}
}  // namespace

Status CheckInputSizes(const Graph &graph, const std::vector<InputView> &inputs, mindspore::StatusCode code) {
  std::array<const InputView *, kFixedSizeMark> seen = {};  // by group
  std::array<Place, kFixedSizeMark> places = {};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = InputOf(graph, i);
    if (tensor.size_marks == 0) continue;
    const TensorShape &shape = inputs[i].shape;
    if (shape.rank < 0 || static_cast<size_t>(shape.rank) != tensor.dims.size()) {
      return Fail(code, NotFixed(graph, i, shape));
    }
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
      const uint32_t mark = SizeMark(tensor, axis);
      if (mark == kFixedSizeMark) {
        if (shape.dims[axis] != std::max<int64_t>(tensor.dims[axis], 0)) return Fail(code, NotFixed(graph, i, shape));
      } else if (mark != kFreeSizeMark && seen[mark] == nullptr) {
        seen[mark] = &inputs[i];
        places[mark] = {i, axis};
      } else if (mark != kFreeSizeMark && shape.dims[axis] != seen[mark]->shape.dims[places[mark].axis]) {
        return Fail(code, NotEqual(graph, places[mark], seen[mark]->shape, {i, axis}, shape));
      }
    }
  }
  return mindspore::kSuccess;
}

bool FixesRows(const Graph &graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), [&graph](int32_t input) {
    return SizeMark(graph.tensors[static_cast<size_t>(input)], 0) == kFixedSizeMark;
  });
}
}  // namespace mslite
