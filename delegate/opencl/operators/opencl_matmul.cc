// MatMulFusion and FullConnection.
#include "matmul/geometry.h"
#include "opencl/operators/families.h"

namespace mslite {
namespace {
std::string WhyNotMatmul(const mslite_node &node) {
  mslite_matmul product;
  if (std::string reason = WhyNotReal(node); !reason.empty()) return reason;
  return mslite_matmul_fits(&node, MSLITE_FLOAT32, &product) ? "" : "unsupported parameters of the matmul";
}

void PlanMatmul(OpenClPlan *plan) {
  mslite_matmul p;
  mslite_matmul_of(&plan->node(), &p);
  std::vector<int64_t> matrices;
  for (int64_t i = 0; i < p.batch; ++i) {
    int64_t a = 0;
    int64_t b = 0;
    mslite_matmul_matrices(&p, i, &a, &b);
    matrices.push_back(a);
    matrices.push_back(b);
  }
  LaunchProduct(p, matrices, plan->Input(0), plan->Input(1), plan->Input(p.has_bias ? 2 : 1), plan->Output(), plan);
}

constexpr OpenClOperator kMatmulOperators[] = {
    {MSLITE_OP_MatMulFusion, WhyNotMatmul, PlanMatmul},
    {MSLITE_OP_FullConnection, WhyNotMatmul, PlanMatmul},
    {0, nullptr, nullptr},
};
}  // namespace

OpenClLaunch &LaunchProduct(const mslite_matmul &p, const std::vector<int64_t> &matrices, OpenClOperand a,
                            OpenClOperand b, OpenClOperand bias, OpenClOperand y, OpenClPlan *plan) {
  const OpenClOperand numbers = plan->Integers(matrices);
  OpenClLaunch &launch = plan->Launch("matmul", "matmul");
  launch.Define("ACTIVATION", p.activation).TakesEpilogue(p.n % 4 == 0);
  if (p.has_bias) launch.Define("BIAS", 1);
  OpenClAccessPattern a_access;
  OpenClAccessPattern b_access;
  if (p.transpose_b && !p.transpose_a && p.k % 4 == 0) {
    launch.Define("TRANSPOSED", 1);
    a_access = b_access = OpenClAccessPattern::Rows(p.k);
  } else if (!p.transpose_b && p.n % 4 == 0) {
    launch.Define("FOURS", 1);
    b_access = OpenClAccessPattern::Rows(p.n);
    if (!p.transpose_a && p.k % 4 == 0) {
      launch.Define("WHOLE_ROWS", 1);
      a_access = OpenClAccessPattern::Rows(p.k);
    }
  }
  launch.Input("a", a, a_access).Input("b", b, b_access);
  launch.Input("bias", bias, p.has_bias ? OpenClAccessPattern() : b_access);
  launch.Output("y", y, p.n % 4 == 0 ? OpenClAccessPattern::Fours() : OpenClAccessPattern());
  launch.Buffer(numbers).Integer(p.m).Integer(p.n).Integer(p.k);
  launch.Integer(p.transpose_a ? 1 : p.k).Integer(p.transpose_a ? p.m : 1);
  launch.Integer(p.transpose_b ? 1 : p.n).Integer(p.transpose_b ? p.k : 1);
  const int64_t fours = (p.n + 3) / 4;
  launch.Items(fours, p.m, p.batch).Tiles("ROWS", 1, p.m, {4, 2, 8, 1});
  launch.Touches(0, p.batch * fours * p.m * p.k).Touches(1, 0, 4 * p.batch * fours * p.k);
  launch.Touches(2, 0, p.has_bias ? 4 * p.batch * fours : 0).Touches(4, 0, 2 * p.batch * fours);
  launch.product = {p, matrices};
  return launch;
}

const OpenClOperator *OpenClMatmul() { return kMatmulOperators; }
}  // namespace mslite
