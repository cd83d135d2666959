#include "opencl/opencl_attention.h"

#include <algorithm>

#include "opencl/opencl_uses.h"

namespace mslite {
namespace {
constexpr int64_t kRows = 4;    // rows of q per work-group
constexpr int64_t kGroup = 64;  // work items per work-group

// Returns true for a matmul without transposed a, bias and activation.
bool IsPlain(const OpenClLaunch &launch) {
  if (!launch.product) return false;
  const mslite_matmul &p = launch.product->sizes;
  return !p.transpose_a && !p.has_bias && p.activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
}

bool FitsScores(const OpenClLaunch &launch, size_t local_bytes) {
  const mslite_matmul &p = launch.product->sizes;
  const auto needed = static_cast<size_t>(kRows * RoundUp(p.n, 4) + kGroup + kRows) * sizeof(float);
  return IsPlain(launch) && (!p.transpose_b || p.k % 4 == 0) && needed <= local_bytes;
}

bool FitsValues(const OpenClLaunch &launch, const OpenClLaunch &scores) {
  if (!IsPlain(launch) || !launch.epilogue.steps.empty()) return false;
  const mslite_matmul &p = launch.product->sizes;
  const mslite_matmul &s = scores.product->sizes;
  if (p.transpose_b || p.n % 4 != 0 || p.batch != s.batch || p.m != s.m || p.k != s.n) return false;
  for (int64_t i = 0; i < p.batch; ++i) {
    if (launch.product->matrices[static_cast<size_t>(2 * i)] != i) return false;  // the scores are in another order
  }
  return true;
}

// Replaces the three launches of `plan`, the matmul q k, the softmax and the matmul with v, by one launch.
void Join(OpenClPlan *plan) {
  const OpenClLaunch scores = plan->launches()[0];
  const OpenClLaunch softmax = plan->launches()[1];
  const OpenClLaunch values = plan->launches()[2];
  const mslite_matmul &p = scores.product->sizes;
  const int64_t width = values.product->sizes.n;
  std::vector<int64_t> matrices;
  for (int64_t i = 0; i < p.batch; ++i) {
    matrices.push_back(scores.product->matrices[static_cast<size_t>(2 * i)]);
    matrices.push_back(scores.product->matrices[static_cast<size_t>(2 * i + 1)]);
    matrices.push_back(values.product->matrices[static_cast<size_t>(2 * i + 1)]);
  }
  const OpenClOperand numbers = plan->Integers(matrices);
  plan->launches().clear();
  OpenClLaunch &launch = plan->Launch("attention", "attention");
  launch.Define("ROWS", kRows).Define("GROUP", kGroup).Define("KEYS", RoundUp(p.n, 4));
  if (p.transpose_b) launch.Define("TRANSPOSED", 1);
  if (p.n % 4 == 0) launch.Define("FOURS", 1);
  launch.Input("q", scores.arguments[0].operand, scores.arguments[0].access);
  launch.Input("k", scores.arguments[1].operand, scores.arguments[1].access);
  launch.Input("v", values.arguments[1].operand, OpenClAccessPattern::Rows(width));
  launch.Output("y", values.arguments[3].operand, OpenClAccessPattern::Fours()).Buffer(numbers);
  launch.Integer(p.m).Integer(p.n).Integer(p.k).Integer(width);
  const int64_t blocks = (p.m + kRows - 1) / kRows;
  launch.Groups(p.batch * blocks, kGroup);
  const int64_t key_fours = (p.n + 3) / 4;
  launch.Touches(0, p.batch * p.m * key_fours * p.k).Touches(1, 4 * p.batch * blocks * key_fours * p.k);
  launch.Touches(2, p.batch * p.m * p.n * width).Touches(4, 0);
  launch.operations = scores.operations + softmax.operations + values.operations;
  launch.epilogue = scores.epilogue;
  launch.stores_fours = scores.stores_fours;
  const auto further = std::find_if(scores.arguments.begin(), scores.arguments.end(),
                                    [](const OpenClLaunch::Argument &argument) { return argument.name == "e0"; });
  launch.arguments.insert(launch.arguments.end(), further, scores.arguments.end());
}
}  // namespace

void FuseAttention(const Part &part, const std::vector<int32_t> &roots, size_t local_bytes,
                   std::vector<OpenClPlan> *plans) {
  OpenClUses uses(part, roots, *plans);
  const auto writer_of = [&](const OpenClOperand &operand) -> OpenClPlan * {
    OpenClPlan *writer = uses.OnlyWriter(operand, plans);
    return writer == nullptr || writer->launches().size() != 1 ? nullptr : writer;
  };
  for (OpenClPlan &plan : *plans) {
    if (plan.launches().size() != 1 || !plan.launches().front().product) continue;
    OpenClPlan *softmax = writer_of(plan.launches().front().arguments[0].operand);
    if (softmax == nullptr || softmax->launches().front().softmax_length == 0) continue;
    OpenClPlan *scores = writer_of(softmax->launches().front().arguments[0].operand);
    if (scores == nullptr || !scores->launches().front().product) continue;
    const OpenClLaunch &product = scores->launches().front();
    if (!FitsScores(product, local_bytes) || !FitsValues(plan.launches().front(), product) ||
        product.product->sizes.n != softmax->launches().front().softmax_length) {
      continue;
    }
    plan.Absorb(softmax);
    plan.Absorb(scores);
    Join(&plan);
    uses.Move(plan, *plans);
  }
}
}  // namespace mslite
