// MatMulFusion and FullConnection.
#include "matmul/geometry.h"
#include "openvino/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotMatmul(const mslite_node &node) {
  mslite_matmul product;
  if (std::string reason = CheckFloat32(node); !reason.empty()) return reason;
  if (!mslite_matmul_fits(&node, MSLITE_FLOAT32, &product)) return "unsupported parameters of the matmul";
  return IsFusedActivation(product.activation) ? "" : "OpenVINO does not support the activation";
}

void PlanMatmul(OpenVinoPlan *plan) {
  const mslite_node &node = plan->node();
  mslite_matmul p;
  mslite_matmul_of(&node, &p);
  const bool is_full = node.op == MSLITE_OP_FullConnection;
  OpenVinoValue a = plan->Input(0);
  OpenVinoValue b = plan->Input(1);
  // A vector is a row on the left and a column on the right. FullConnection flattens its input to rows.
  const bool is_flat = is_full || node.inputs[0]->rank == 1;
  if (is_flat) a = plan->Reshaped(a, {p.m, p.k});
  if (node.inputs[1]->rank == 1) b = plan->Reshaped(b, {p.k, p.n});
  OpenVinoValue y = plan->Layer("MatMul", {a, b},
                                {{"transpose_a", !is_flat && p.transpose_a ? "true" : "false"},
                                 {"transpose_b", is_full || p.transpose_b ? "true" : "false"}});
  if (p.has_bias) y = plan->Binary("Add", y, plan->Reshaped(plan->Input(2), {p.n}));
  y = plan->Activated(y, p.activation);
  if (is_flat || node.inputs[1]->rank == 1) y = plan->Reshaped(y, DimsOf(*node.outputs[0]));
  plan->Give(y);
}

constexpr OpenVinoOperator kMatmulOperators[] = {
    {MSLITE_OP_MatMulFusion, WhyNotMatmul, PlanMatmul},
    {MSLITE_OP_FullConnection, WhyNotMatmul, PlanMatmul},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenVinoOperator *OpenVinoMatmul() { return kMatmulOperators; }
}  // namespace mslite
