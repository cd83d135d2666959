// MatMulFusion and FullConnection.
#include "matmul/geometry.h"
#include "opencl/operators/families.h"

namespace mslite {
namespace {
std::string WhyNot(const mslite_node &node) {
  mslite_product product;
  if (std::string reason = WhyNotReal(node); !reason.empty()) return reason;
  return mslite_product_fits(&node, MSLITE_FLOAT32, &product) ? "" : "a matrix product of unusual form";
}

void Plan(OpenClPlan *plan) {
  constexpr int64_t kRows = 4;
  mslite_product p;
  mslite_product_of(&plan->node(), &p);
  std::vector<int64_t> matrices;
  for (int64_t i = 0; i < p.batch; ++i) {
    int64_t a = 0;
    int64_t b = 0;
    mslite_product_matrices(&p, i, &a, &b);
    matrices.push_back(a);
    matrices.push_back(b);
  }
  const OpenClOperand numbers = plan->Integers(matrices);
  OpenClLaunch &launch = plan->Launch("matmul", "matmul");
  launch.Define("ACTIVATION", p.activation);
  if (p.has_bias) launch.Define("BIAS", 1);
  OpenClAccess a_access;
  OpenClAccess b_access;
  if (p.transpose_b && !p.transpose_a && p.k % 4 == 0) {
    launch.Define("TRANSPOSED", 1);
    a_access = b_access = OpenClAccess::Rows(p.k);
  } else if (!p.transpose_b && p.n % 4 == 0) {
    launch.Define("FOURS", 1);
    b_access = OpenClAccess::Rows(p.n);
    if (!p.transpose_a && p.k % 4 == 0) {
      launch.Define("WHOLE_ROWS", 1);
      a_access = OpenClAccess::Rows(p.k);
    }
  }
  launch.Input("a", plan->Input(0), a_access).Input("b", plan->Input(1), b_access);
  launch.Input("bias", plan->Input(p.has_bias ? 2 : 1), p.has_bias ? OpenClAccess() : b_access);
  launch.Output("y", plan->Output(), p.n % 4 == 0 ? OpenClAccess::Fours() : OpenClAccess());
  launch.Buffer(numbers).Integer(p.m).Integer(p.n).Integer(p.k);
  launch.Integer(p.transpose_a ? 1 : p.k).Integer(p.transpose_a ? p.m : 1);
  launch.Integer(p.transpose_b ? 1 : p.n).Integer(p.transpose_b ? p.k : 1);
  launch.Items((p.n + 3) / 4, (p.m + kRows - 1) / kRows, p.batch);
}

constexpr OpenClOperator kOperators[] = {
    {MSLITE_OP_MatMulFusion, WhyNot, Plan, Fresh},
    {MSLITE_OP_FullConnection, WhyNot, Plan, Fresh},
    {0, nullptr, nullptr},
};
}  // namespace

const OpenClOperator *OpenClMatmul() { return kOperators; }
}  // namespace mslite
