#include "plan/rewrite/integer_matmuls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/dequantize.h"
#include "model/loader.h"

namespace mslite {
namespace {
enum : uint8_t { kProductX = 0, kProductWeight = 1, kProductBias = 2 };

/// The weight as a matrix.
struct Matrix {
  int64_t columns = 0;
  int32_t activation = 0;
  bool transposed = false;     // a MatMul's weight is [columns][rows]
  bool has_one_scale = false;  // supports only one scale
  bool flattens = false;       // the result is [rows][columns] for any rank of x
  bool fits = false;
};

Matrix ConvolutionOf(const mslite_Conv2DFusion &params, const Tensor &weight) {
  Matrix matrix;
  matrix.columns = weight.dims.size() == 4 ? weight.dims[0] : 0;
  matrix.activation = params.activation_type;
  const int64_t group = params.group;
  // Not depthwise convolutions: they have few terms per sum, and float kernels are faster.
  matrix.fits = matrix.columns > 0 && group > 0 && matrix.columns % group == 0 &&
                (group == 1 || group != matrix.columns || weight.dims[3] > 1);
  return matrix;
}

Matrix FullConnectionOf(const mslite_FullConnection &params, const Tensor &weight, const Tensor &x) {
  Matrix matrix;
  matrix.columns = weight.dims.size() == 2 ? weight.dims[0] : 0;
  matrix.activation = params.activation_type;
  matrix.transposed = true;
  const auto rank = static_cast<int32_t>(x.dims.size());
  matrix.fits = matrix.columns > 0 && x.has_rank && rank >= 2;
  if (!matrix.fits) return matrix;
  const int32_t axis = params.use_axis ? mslite_normalize_axis(params.axis, rank) : 1;
  matrix.flattens = axis == 1 && rank > 2;
  matrix.fits = matrix.flattens ? x.dims.back() == weight.dims[1] : axis == rank - 1;
  return matrix;
}

Matrix ProductOf(const mslite_MatMulFusion &params, const Tensor &weight, const Version &version) {
  Matrix matrix;
  const size_t rank = weight.dims.size();
  matrix.columns = rank < 2 ? 0 : weight.dims[params.transpose_b ? rank - 2 : rank - 1];
  matrix.activation = params.activation_type;
  matrix.transposed = params.transpose_b;
  // Before 1.6 the quantization parameters belonged to another dimension.
  matrix.has_one_scale = rank > 2 || version < Version{1, 6, 0};
  matrix.fits = matrix.columns > 0 && !params.transpose_a;
  return matrix;
}

Matrix MatrixOf(const Graph &graph, const Node &node) {
  const auto tensor = [&](size_t i) -> const Tensor & { return graph.tensors[static_cast<size_t>(node.inputs[i])]; };
  if (node.params == nullptr) return {};
  switch (node.op) {
    case MSLITE_OP_Conv2DFusion:
      return ConvolutionOf(*static_cast<const mslite_Conv2DFusion *>(node.params), tensor(kProductWeight));
    case MSLITE_OP_FullConnection:
      return FullConnectionOf(*static_cast<const mslite_FullConnection *>(node.params), tensor(kProductWeight),
                              tensor(kProductX));
    case MSLITE_OP_MatMulFusion:
      return ProductOf(*static_cast<const mslite_MatMulFusion *>(node.params), tensor(kProductWeight), graph.version);
    default:
      return {};
  }
}

/// Returns whether all terms of a sum have the same input scale: one scale per image of a convolution, or per row of a
/// MatMul.
bool HasScaleOutsideOfSums(const mslite_DynamicQuant &rounding, const Node &node, const Tensor &x) {
  if (!rounding.activation_channel) return true;
  const bool is_image = node.op == MSLITE_OP_Conv2DFusion;
  const int32_t rank = is_image ? 4 : static_cast<int32_t>(x.dims.size());
  if (!is_image && (!x.has_rank || rank < 1)) return false;
  if (!is_image && std::all_of(x.dims.begin(), x.dims.end() - 1, [](int64_t size) { return size == 1; })) return true;
  std::vector<bool> kept(static_cast<size_t>(rank), false);
  const bool has_list = rounding.prefer_axes.count > 0;
  for (int64_t i = 0; i < (has_list ? rounding.prefer_axes.count : 1); ++i) {
    const int32_t axis = mslite_normalize_axis(has_list ? rounding.prefer_axes.at[i] : rounding.prefer_axis, rank);
    if (axis < 0) return false;
    kept[static_cast<size_t>(axis)] = true;
  }
  const auto count = std::count(kept.begin(), kept.end(), true);
  return is_image ? count == 1 && kept[0] : count == rank - 1 && !kept.back();
}

bool CanFollow(int32_t activation) {
  return activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION || activation == MSLITE_ACTIVATION_TYPE_RELU ||
         activation == MSLITE_ACTIVATION_TYPE_RELU6 || activation == MSLITE_ACTIVATION_TYPE_RELU1 ||
         activation == MSLITE_ACTIVATION_TYPE_TANH || activation == MSLITE_ACTIVATION_TYPE_SIGMOID;
}
}  // namespace

bool IntegerMatmuls::Fits(const Node &node, const Node &rounding) const {
  if (node.inputs.size() < 2 || node.inputs.size() > 3 || node.outputs.size() != 1) return false;
  if (node.inputs[kProductX] != rounding.outputs[0] || node.inputs[kProductWeight] < 0) return false;
  const Tensor &weight = TensorAt(node.inputs[kProductWeight]);
  if (!weight.is_constant || weight.type != MSLITE_INT8 || weight.quant.empty() || HasCorrections(weight)) return false;
  if (!QuantParamsProblem(weight).empty()) return false;
  const Matrix matrix = MatrixOf(*graph_, node);
  if (!matrix.fits || !CanFollow(matrix.activation)) return false;
  const auto scales = static_cast<int64_t>(weight.quant.size());
  if (scales != 1 && (matrix.has_one_scale || scales != matrix.columns)) return false;
  if (node.inputs.size() > kProductBias && node.inputs[kProductBias] >= 0) {
    const Tensor &bias = TensorAt(node.inputs[kProductBias]);
    if (!bias.is_constant || bias.type != MSLITE_FLOAT32 || bias.dims != std::vector<int64_t>{matrix.columns}) {
      return false;
    }
  }
  return HasScaleOutsideOfSums(*static_cast<const mslite_DynamicQuant *>(rounding.params), node,
                               TensorAt(node.inputs[kProductX]));
}

void IntegerMatmuls::KeepRanges(int32_t index) {
  Node &node = graph_->nodes[static_cast<size_t>(index)];
  const int32_t integer = node.outputs[0];
  const std::string name = TensorAt(integer).name;
  node.primitive = nullptr;
  node.outputs.push_back(new_.AddValue(name + "_scale", MSLITE_FLOAT32));
  node.outputs.push_back(new_.AddValue(name + "_zero", MSLITE_INT8));
  graph_->tensors[static_cast<size_t>(integer)].type = MSLITE_INT8;
  roundings_[integer] = index;
}

bool IntegerMatmuls::CanMultiply(const Node &node) const {
  if (node.inputs.empty()) return false;
  const auto place = roundings_.find(node.inputs[kProductX]);
  return place != roundings_.end() && Fits(node, graph_->nodes[static_cast<size_t>(place->second)]);
}

/// Adds the integers of the weight without quantization parameters; those of a MatMul as [rows][columns].
Status IntegerMatmuls::AddWeight(const Node &node, int32_t *index) {
  Tensor weight = TensorAt(node.inputs[kProductWeight]);
  weight.quant.clear();
  weight.corrections.clear();
  if (!MatrixOf(*graph_, node).transposed) {
    *index = new_.Add(std::move(weight));
    return mindspore::kSuccess;
  }
  std::vector<int64_t> dims = weight.dims;
  const size_t rank = dims.size();
  const int64_t columns = dims[rank - 2], rows = dims[rank - 1], size = rows * columns;
  std::swap(dims[rank - 2], dims[rank - 1]);
  uint8_t *data = nullptr;
  MSLITE_TRY(new_.AddConstant(weight.name, MSLITE_INT8, std::move(dims), &data, index));
  const auto total = static_cast<int64_t>(weight.size);
  for (int64_t first = 0; size > 0 && first + size <= total; first += size) {
    for (int64_t at = 0; at < size; ++at) data[first + at] = weight.data[first + at % columns * rows + at / columns];
  }
  return mindspore::kSuccess;
}

/// Adds the zero points of the weight: one element if all are 0.
Status IntegerMatmuls::AddZeros(const Tensor &weight, int32_t *index) {
  const std::vector<mslite_quant> records = weight.quant;
  const bool is_symmetric =
      std::all_of(records.begin(), records.end(), [](const mslite_quant &record) { return record.zero_point == 0; });
  const size_t count = is_symmetric ? 1 : records.size();
  uint8_t *data = nullptr;
  MSLITE_TRY(new_.AddConstant(weight.name + "_zero", MSLITE_INT8, {static_cast<int64_t>(count)}, &data, index));
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<uint8_t>(records[i].zero_point);
  return mindspore::kSuccess;
}

/// Adds a bias of -0, which does not change any sum.
Status IntegerMatmuls::AddNoBias(const Node &node, int32_t *index) {
  const int64_t columns = MatrixOf(*graph_, node).columns;
  uint8_t *data = nullptr;
  MSLITE_TRY(new_.AddConstant(node.name + "_bias", MSLITE_FLOAT32, {columns}, &data, index));
  std::fill_n(reinterpret_cast<float *>(data), columns, -0.0F);
  return mindspore::kSuccess;
}

const void *IntegerMatmuls::ParamsOf(const Node &node) {
  if (node.op != MSLITE_OP_Conv2DFusion) return graph_->arena.Make<mslite_MatMulInteger>();
  const auto *from = static_cast<const mslite_Conv2DFusion *>(node.params);
  auto *params = graph_->arena.Make<mslite_ConvInteger>();
  params->format = from->format;
  params->kernel_size = from->kernel_size;
  params->stride = from->stride;
  params->dilation = from->dilation;
  params->pad_mode = from->pad_mode;
  params->pad_list = from->pad_list;
  params->group = from->group;
  return params;
}

Status IntegerMatmuls::Multiply(int32_t index, std::vector<int32_t> *nodes) {
  const Node node = graph_->nodes[static_cast<size_t>(index)];
  const Node rounding = graph_->nodes[static_cast<size_t>(roundings_.at(node.inputs[kProductX]))];
  const Matrix matrix = MatrixOf(*graph_, node);
  Node product;
  product.name = node.name;
  product.op = node.op == MSLITE_OP_Conv2DFusion ? MSLITE_OP_ConvInteger : MSLITE_OP_MatMulInteger;
  product.params = ParamsOf(node);
  int32_t weight = 0;
  int32_t zeros = 0;
  int32_t scales = 0;
  MSLITE_TRY(AddWeight(node, &weight));
  const Tensor source = TensorAt(node.inputs[kProductWeight]);
  MSLITE_TRY(AddZeros(source, &zeros));
  MSLITE_TRY(new_.AddScales(source, &scales));
  int32_t bias = node.inputs.size() > kProductBias ? node.inputs[kProductBias] : -1;
  if (bias < 0) MSLITE_TRY(AddNoBias(node, &bias));
  product.inputs = {rounding.outputs[0], weight, rounding.outputs[2], zeros, scales, bias, rounding.outputs[1]};
  product.outputs = node.outputs;
  nodes->push_back(index);
  const bool has_activation = matrix.activation != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  const std::string name = TensorAt(node.outputs[0]).name;
  const int32_t rows = has_activation ? new_.AddValue(name + "_sum", MSLITE_FLOAT32) : node.outputs[0];
  const int32_t sums = matrix.flattens ? new_.AddValue(name + "_unflattened", MSLITE_FLOAT32) : rows;
  product.outputs = {sums};
  graph_->nodes[static_cast<size_t>(index)] = std::move(product);
  if (matrix.flattens) {
    nodes->push_back(0);
    MSLITE_TRY(new_.AddRows(node.name + "_rows", matrix.columns, sums, rows, &nodes->back()));
  }
  if (has_activation) {
    nodes->push_back(new_.AddActivation(node.name + "_activation", matrix.activation, rows, node.outputs[0]));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
