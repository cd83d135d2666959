#include "plan/flops.h"

namespace mslite {
namespace {

int64_t Elements(const mslite_tensor *tensor) { return mslite_element_count(tensor); }

int64_t Dim(const mslite_tensor *tensor, int32_t from_end) {
  return tensor->rank < from_end ? 1 : tensor->dims[tensor->rank - from_end];
}

// Multiply-adds per element of a weight [a, kh, kw, b] that is applied once per output (or input) pixel and channel.
int64_t TapsPerChannel(const mslite_tensor *weight) {
  return weight->rank == 4 ? weight->dims[1] * weight->dims[2] * weight->dims[3] : 1;
}

int64_t PoolFlops(const mslite_node &node, const mslite_longs &kernel, bool global) {
  const mslite_tensor *x = node.inputs[0];
  if (global || kernel.count < 2) return Elements(x);
  return Elements(node.outputs[0]) * kernel.at[0] * kernel.at[1];
}

}  // namespace

int64_t CountFlops(const mslite_node &node) {
  const mslite_tensor *y = node.outputs[0];
  switch (node.op) {
    case MSLITE_OP_Conv2DFusion:
    case MSLITE_OP_Conv2DAddFusion:
      return 2 * Elements(y) * TapsPerChannel(node.inputs[1]);
    case MSLITE_OP_Conv2dTransposeFusion:
      return 2 * Elements(node.inputs[0]) * TapsPerChannel(node.inputs[1]);
    case MSLITE_OP_MatMulFusion: {
      const auto *params = static_cast<const mslite_MatMulFusion *>(node.params);
      return 2 * Elements(y) * Dim(node.inputs[0], params->transpose_a ? 2 : 1);
    }
    case MSLITE_OP_FullConnection:
      return 2 * Elements(y) * Dim(node.inputs[1], 1);
    case MSLITE_OP_AvgPoolFusion: {
      const auto *params = static_cast<const mslite_AvgPoolFusion *>(node.params);
      return PoolFlops(node, params->kernel_size, params->global);
    }
    case MSLITE_OP_MaxPoolFusion: {
      const auto *params = static_cast<const mslite_MaxPoolFusion *>(node.params);
      return PoolFlops(node, params->kernel_size, params->global);
    }
    case MSLITE_OP_LSTM:
    case MSLITE_OP_GRU:
      // Every gate weight is used once per time step and batch entry.
      return 2 * (Elements(node.inputs[1]) + Elements(node.inputs[2])) * Dim(node.inputs[0], 3) *
             Dim(node.inputs[0], 2);
    case MSLITE_OP_ReduceFusion:
    case MSLITE_OP_ArgMaxFusion:
    case MSLITE_OP_ArgMinFusion:
      return Elements(node.inputs[0]);
    case MSLITE_OP_Reshape:
    case MSLITE_OP_Flatten:
    case MSLITE_OP_Squeeze:
    case MSLITE_OP_Unsqueeze:
    case MSLITE_OP_ExpandDims:
    case MSLITE_OP_Transpose:
    case MSLITE_OP_Concat:
    case MSLITE_OP_Split:
    case MSLITE_OP_Stack:
    case MSLITE_OP_Unstack:
    case MSLITE_OP_SliceFusion:
    case MSLITE_OP_StridedSlice:
    case MSLITE_OP_Gather:
    case MSLITE_OP_PadFusion:
    case MSLITE_OP_Shape:
      return 0;
    default:
      return Elements(y);
  }
}

int64_t CountBytes(const mslite_node &node) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node.input_count; ++i)
    bytes += Elements(node.inputs[i]) * mslite_type_size(node.inputs[i]->type);
  for (int32_t i = 0; i < node.output_count; ++i) {
    bytes += Elements(node.outputs[i]) * mslite_type_size(node.outputs[i]->type);
  }
  return bytes;
}

}  // namespace mslite
