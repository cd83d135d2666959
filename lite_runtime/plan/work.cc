#include "plan/work.h"

#include <cstdint>

#include "matmul/attention.h"

namespace mslite {
namespace {

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t Elements(const mslite_tensor *tensor) { return mslite_element_count(tensor); }

int64_t Dim(const mslite_tensor *tensor, int32_t from_end) {
  return tensor->rank < from_end ? 1 : tensor->dims[tensor->rank - from_end];
}

// Returns the rows of a matrix in all batches.
int64_t Rows(const mslite_tensor *tensor) {
  int64_t rows = 1;
  for (int32_t i = 0; i + 1 < tensor->rank; ++i) rows = Times(rows, tensor->dims[i]);
  return rows;
}

// Returns the multiply-accumulates per element that a weight [a, kh, kw, b] is applied to: kh * kw * b.
int64_t Taps(const mslite_tensor *weight) {
  int64_t taps = 1;
  for (int32_t i = 1; i < weight->rank; ++i) taps = Times(taps, weight->dims[i]);
  return taps;
}

int64_t Convolution(const mslite_node &node) { return Times(Elements(node.outputs[0]), Taps(node.inputs[1])); }

int64_t Transposed(const mslite_node &node) { return Times(Elements(node.inputs[0]), Taps(node.inputs[1])); }

// The output is the gradient of the weight.
int64_t FilterGradient(const mslite_node &node) { return Times(Elements(node.inputs[0]), Taps(node.outputs[0])); }

int64_t Product(const mslite_node &node) {
  const bool transposed =
      node.op == MSLITE_OP_MatMulFusion && static_cast<const mslite_MatMulFusion *>(node.params)->transpose_a;
  return Times(Elements(node.outputs[0]), Dim(node.inputs[0], transposed ? 2 : 1));
}

int64_t FullConnection(const mslite_node &node) { return Times(Elements(node.outputs[0]), Dim(node.inputs[1], 1)); }

int64_t Affine(const mslite_node &node) { return Times(Rows(node.outputs[0]), Elements(node.inputs[1])); }

int64_t Attention(const mslite_node &node) {
  mslite_attention_operands at;
  const auto *params = static_cast<const mslite_Attention *>(node.params);
  if (!mslite_attention_read(node.inputs, node.input_count, params->cross, &at)) return 0;
  const mslite_tensor *const *x = node.inputs;
  const int64_t queries = Rows(x[0]);
  const int64_t hidden = at.own_u >= 0 ? Elements(x[at.own_u]) : Times(params->head_num, params->head_size);
  int64_t macs = Times(queries, Elements(x[at.weight_out]));
  for (int32_t i = 0; i < 3; ++i) macs = Plus(macs, Times(Times(Rows(x[i]), Dim(x[i], 1)), hidden));
  int64_t rows = Times(2, Dim(x[1], 2));  // keys and values for each query
  if (at.positions >= 0) {
    macs = Plus(macs, Times(Times(Rows(x[at.positions]), Dim(x[at.positions], 1)), hidden));
    rows = Plus(rows, Dim(x[at.positions], 2));
  }
  return Plus(macs, Times(Times(queries, rows), hidden));
}

// Every weight of a gate is used once per time step and batch entry.
int64_t Recurrent(const mslite_node &node) {
  int64_t weights = Plus(Elements(node.inputs[1]), Elements(node.inputs[2]));
  int32_t projection = -1;
  if (node.op == MSLITE_OP_LSTMSequence) {
    const auto *params = static_cast<const mslite_LSTMSequence *>(node.params);
    if (params->has_projection) {
      projection = 3 + params->has_bias + params->has_sequence_lengths + params->has_initial_hidden +
                   params->has_initial_cell + params->has_peepholes;
    }
  } else if (node.op == MSLITE_OP_LSTM) {
    projection = 6;
  }
  if (projection >= 0 && projection < node.input_count) weights = Plus(weights, Elements(node.inputs[projection]));
  return Times(weights, Rows(node.inputs[0]));
}

int64_t StoredCell(const mslite_node &node) { return Times(Rows(node.inputs[0]), Elements(node.inputs[1])); }

int64_t StoredFilters(const mslite_node &node) {
  return Times(Rows(node.inputs[0]), Plus(Elements(node.inputs[1]), Elements(node.inputs[2])));
}

int64_t RecurrentDataGradient(const mslite_node &node) { return Times(Rows(node.inputs[0]), Elements(node.inputs[4])); }

int64_t RecurrentWeightGradient(const mslite_node &node) {
  return Times(Rows(node.inputs[0]), Elements(node.outputs[0]));
}

int64_t RecurrentGradient(const mslite_node &node) {
  return Times(2, Times(Rows(node.inputs[0]), Elements(node.inputs[3])));  // gradients of the data and of the weight
}

using Counter = int64_t (*)(const mslite_node &node);

Counter CounterOf(int32_t op) {
  switch (op) {
    case MSLITE_OP_Conv2DFusion:
    case MSLITE_OP_Conv2DAddFusion:
    case MSLITE_OP_ConvInteger:
    case MSLITE_OP_DeformConv:
      return Convolution;
    case MSLITE_OP_Conv2dTransposeFusion:
    case MSLITE_OP_Conv2DBackpropInputFusion:
      return Transposed;
    case MSLITE_OP_Conv2DBackpropFilterFusion:
    case MSLITE_OP_DeConv2DGradFilter:
      return FilterGradient;
    case MSLITE_OP_MatMulFusion:
    case MSLITE_OP_MatMulInteger:
      return Product;
    case MSLITE_OP_FullConnection:
      return FullConnection;
    case MSLITE_OP_Affine:
      return Affine;
    case MSLITE_OP_Attention:
      return Attention;
    case MSLITE_OP_LSTM:
    case MSLITE_OP_GRU:
    case MSLITE_OP_RNNSequence:
    case MSLITE_OP_LSTMSequence:
    case MSLITE_OP_GRUSequence:
      return Recurrent;
    case MSLITE_OP_StoredLSTMCell:
      return StoredCell;
    case MSLITE_OP_StoredSVDF:
      return StoredFilters;
    case MSLITE_OP_LSTMGradData:
      return RecurrentDataGradient;
    case MSLITE_OP_LSTMGradWeight:
      return RecurrentWeightGradient;
    case MSLITE_OP_LSTMGrad:
      return RecurrentGradient;
    default:
      return nullptr;
  }
}

int64_t PoolFlops(const mslite_node &node, const mslite_longs &kernel, bool global) {
  if (global || kernel.count < 1) return Elements(node.inputs[0]);
  int64_t flops = Elements(node.outputs[0]);
  for (int32_t i = 0; i < kernel.count; ++i) flops = Times(flops, kernel.at[i]);
  return flops;
}

}  // namespace

bool IsMultiplyAccumulate(int32_t op) { return CounterOf(op) != nullptr; }

int64_t CountMacs(const mslite_node &node) {
  const Counter counter = CounterOf(node.op);
  return counter == nullptr ? 0 : counter(node);
}

int64_t CountFlops(const mslite_node &node) {
  if (node.output_count == 0) return 0;
  if (const Counter counter = CounterOf(node.op); counter != nullptr) return Times(2, counter(node));
  switch (node.op) {
    case MSLITE_OP_AdderFusion:
      return Times(2, Convolution(node));  // a subtraction and an addition instead of each multiplication
    case MSLITE_OP_AvgPoolFusion: {
      const auto *params = static_cast<const mslite_AvgPoolFusion *>(node.params);
      return PoolFlops(node, params->kernel_size, params->global);
    }
    case MSLITE_OP_MaxPoolFusion: {
      const auto *params = static_cast<const mslite_MaxPoolFusion *>(node.params);
      return PoolFlops(node, params->kernel_size, params->global);
    }
    case MSLITE_OP_AvgPoolExtended:
      return PoolFlops(node, static_cast<const mslite_AvgPoolExtended *>(node.params)->kernel_size, false);
    case MSLITE_OP_MaxPoolExtended:
      return PoolFlops(node, static_cast<const mslite_MaxPoolExtended *>(node.params)->kernel_size, false);
    case MSLITE_OP_MaxPoolWithIndices:
      return PoolFlops(node, static_cast<const mslite_MaxPoolWithIndices *>(node.params)->kernel_size, false);
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
      return Elements(node.outputs[0]);
  }
}

int64_t CountBytes(const mslite_node &node) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node.input_count; ++i)
    bytes = Plus(bytes, Times(Elements(node.inputs[i]), mslite_type_size(node.inputs[i]->type)));
  for (int32_t i = 0; i < node.output_count; ++i) {
    bytes = Plus(bytes, Times(Elements(node.outputs[i]), mslite_type_size(node.outputs[i]->type)));
  }
  return bytes;
}

}  // namespace mslite
