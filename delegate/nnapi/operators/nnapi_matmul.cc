// MatMulFusion and FullConnection.
#include "matmul/geometry.h"
#include "nnapi/operators/families.h"

namespace mslite {
namespace {
// [rows, k] times the transposed weights [n, k].
std::string PlanFull(NnapiPlan *plan, const mslite_matmul &p, bool is_turned) {
  const mslite_node &node = plan->node();
  const mslite_tensor &b = *node.inputs[1];
  const bool is_stored = IsStored(*node.inputs[0]);
  const int64_t rows = CountIn(*node.inputs[0]) / p.k;
  if (is_stored && (b.type != node.inputs[0]->type || b.quant_count != 1 || !IsStored(*node.outputs[0]))) {
    return "per-channel weights, or values with different data types";
  }
  if (p.has_bias && node.inputs[2]->data == nullptr) return "the bias is not constant";
  if (is_stored && p.has_bias && node.inputs[2]->type != MSLITE_INT32) return "the bias is not int32";
  NnapiFuse fuse;
  const bool is_fused = FusedNnapiActivation(p.activation, &fuse);
  if (is_stored && !is_fused) return "NNAPI does not support the activation";
  const NnapiValue a = plan->Reshaped(plan->Input(0), {rows, p.k});
  NnapiOperand weight = plan->operand(plan->Input(1));
  weight.dims = {static_cast<uint32_t>(p.n), static_cast<uint32_t>(p.k)};
  NnapiOperand bias;
  bias.type = is_stored ? NNAPI_TENSOR_INT32 : NNAPI_TENSOR_FLOAT32;
  bias.dims = {static_cast<uint32_t>(p.n)};
  if (is_stored) bias.scale = plan->operand(a).scale * weight.scale;
  const size_t bias_bytes = static_cast<size_t>(p.n) * 4;
  if (p.has_bias) {
    bias.contents = node.inputs[2]->data;
    bias.bytes = bias_bytes;
  }
  const NnapiValue weights =
      is_turned ? plan->Constant(std::move(weight), TransposedWeights(b, p.k, p.n)) : plan->Constant(std::move(weight));
  const NnapiValue biases =
      p.has_bias ? plan->Constant(std::move(bias)) : plan->Constant(std::move(bias), std::vector<uint8_t>(bias_bytes));
  mslite_tensor product = *node.outputs[0];
  product.rank = 2;
  product.dims[0] = rows;
  product.dims[1] = p.n;
  NnapiValue y = plan->LayerLike(NNAPI_FULLY_CONNECTED, {a, weights, biases, plan->Whole(fuse)}, product);
  if (!is_fused) y = plan->Activated(y, p.activation, {rows, p.n});
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

std::string PlanMatmul(NnapiPlan *plan) {
  const mslite_node &node = plan->node();
  const mslite_tensor &a = *node.inputs[0];
  const mslite_tensor &b = *node.inputs[1];
  mslite_matmul p;
  if (mslite_matmul_of(&node, &p) != MSLITE_OK) return "unsupported parameters of the matmul";
  if (!IsStored(a)) {
    if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  }
  if (!IsNnapiActivation(p.activation)) return "NNAPI does not support the activation";
  const bool is_full = node.op == MSLITE_OP_FullConnection;
  const bool is_flat = b.rank <= 2 && !p.transpose_a;
  if (is_flat && b.data != nullptr && (is_full || b.rank == 2)) return PlanFull(plan, p, !is_full && !p.transpose_b);
  if (IsStored(a)) return "a quantized matmul of two activations";
  if (a.rank < 2 || b.rank < 2) return "an input of the matmul is a vector";
  std::vector<int64_t> product = {p.m, p.n};
  NnapiValue left = plan->Input(0);
  if (is_full || (is_flat && a.rank != b.rank)) {
    product[0] = CountIn(a) / p.k;
    left = plan->Reshaped(left, {product[0], p.k});
  } else {
    if (a.rank != b.rank) return "a matmul that broadcasts batches";
    for (int32_t i = 0; i < a.rank - 2; ++i) {
      if (a.dims[i] != b.dims[i]) return "a matmul that broadcasts batches";
    }
    product.insert(product.begin(), a.dims, a.dims + a.rank - 2);
  }
  const NnapiValue turn_a = plan->Truth(!is_full && p.transpose_a);
  const NnapiValue turn_b = plan->Truth(is_full || p.transpose_b);
  NnapiValue y = plan->Layer(NNAPI_BATCH_MATMUL, {left, plan->Input(1), turn_a, turn_b}, product);
  if (p.has_bias) y = plan->Binary(NNAPI_ADD, y, plan->Reshaped(plan->Input(2), {p.n}), product);
  y = plan->Activated(y, p.activation, product);
  plan->Give(plan->Reshaped(y, NnapiDims(*node.outputs[0])));
  return "";
}

constexpr NnapiOperator kMatmulOperators[] = {
    {MSLITE_OP_MatMulFusion, PlanMatmul, true},
    {MSLITE_OP_FullConnection, PlanMatmul, true},
    {0, nullptr},
};
}  // namespace

const NnapiOperator *NnapiMatmul() { return kMatmulOperators; }
}  // namespace mslite
