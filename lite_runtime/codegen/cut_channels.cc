// Calls that can compute a part of their output channels.
#include "codegen/kernel_call.h"
#include "convolution/geometry.h"
#include "matmul/geometry.h"

namespace mslite::codegen {
namespace {

// An int8 weight matrix. `by_columns`: output channels are columns, otherwise rows.
struct Matrix {
  int64_t rows, columns;
  bool by_columns;
};

// Returns the weight matrix of a call, without rows if the call is unsupported.
Matrix WeightMatrix(const mslite_node &call) {
  const mslite_tensor &weight = *call.inputs[1];
  if (call.op == MSLITE_OP_Conv2DFusion) {
    mslite_convolution geometry = {};
    if (mslite_convolution_of(&call, &geometry) != MSLITE_OK || geometry.group != 1) return {};
    return {weight.dims[0], weight.dims[1] * weight.dims[2] * weight.dims[3], false};
  }
  if (call.op != MSLITE_OP_MatMulFusion && call.op != MSLITE_OP_FullConnection) return {};
  mslite_product_attributes attributes;
  mslite_product_read(call.op, call.params, &attributes);
  if (weight.rank != 2) return {};
  return {weight.dims[0], weight.dims[1], !attributes.transpose_b};
}

// Selects the quantization parameters of some channels, if they are per-channel.
void CutRecords(int64_t first, int64_t count, mslite_tensor *tensor) {
  if (tensor->quant_count <= 1) return;
  tensor->quant += first;
  tensor->quant_count = static_cast<int32_t>(count);
}

}  // namespace

bool CutChannels(const CodegenPlan &plan, size_t step, int64_t first, int64_t count, CodegenStep *cut) {
  const PlannedStep &whole = StepOf(plan, step);
  const KernelCall described(whole);
  const mslite_node &from = described.node;
  const mslite_kernel &kernel = *whole.step->kernel;
  if (from.input_count < 2 || from.output_count != 1 || kernel.pack == nullptr) return false;
  if (from.inputs[1]->data == nullptr || from.inputs[1]->type != MSLITE_INT8) return false;
  const Matrix matrix = WeightMatrix(from);
  const int64_t channels = matrix.by_columns ? matrix.columns : matrix.rows;
  if (first < 0 || count < 1 || first > channels - count) return false;
  std::vector<mslite_tensor> tensors;
  for (const mslite_tensor *operand : described.operands) tensors.push_back(*operand);
  mslite_tensor &weight = tensors[1];
  const auto *bytes = static_cast<const char *>(weight.data);
  ByteString part;
  if (matrix.by_columns) {
    for (int64_t k = 0; k < matrix.rows; ++k) part.append(bytes + k * channels + first, static_cast<size_t>(count));
  } else {
    part.assign(bytes + first * matrix.columns, static_cast<size_t>(count * matrix.columns));
  }
  weight.data = part.data();
  weight.dims[matrix.by_columns ? 1 : 0] = count;
  CutRecords(first, count, &weight);
  if (from.input_count > 2 && tensors[2].data != nullptr) {
    if (tensors[2].rank != 1 || tensors[2].dims[0] != channels) return false;
    tensors[2].data = static_cast<const char *>(tensors[2].data) + first * mslite_type_size(tensors[2].type);
    tensors[2].dims[0] = count;
    CutRecords(first, count, &tensors[2]);
  }
  mslite_tensor &y = tensors.back();
  if (y.rank < 1 || y.dims[y.rank - 1] != channels) return false;
  y.dims[y.rank - 1] = count;
  std::vector<const mslite_tensor *> operands;
  operands.reserve(tensors.size());
  for (const mslite_tensor &tensor : tensors) operands.push_back(&tensor);
  mslite_node call = from;
  call.inputs = operands.data();
  call.outputs = operands.data() + call.input_count;
  if (kernel.support(&call) <= 0 || !Prepare(kernel, call, cut)) return false;
  for (int32_t i = 0; i < call.input_count; ++i) {
    const int64_t size = kernel.pack_size(&call, i);
    if (size <= 0) continue;
    cut->packed.emplace_back(
        i, Filled(size, [&](uint8_t *target) { kernel.pack(&call, i, call.inputs[i]->data, target); }));
  }
  return true;
}

}  // namespace mslite::codegen
