#include "plan/choose_kernel.h"

#include "model/names.h"
#include "plan/quantised.h"

namespace mslite {

std::string NodeText(const mslite_node &node) {
  std::string text = OperatorName(node.op) + "(";
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (i > 0) text += ", ";
    text += node.inputs[i] == nullptr ? "-" : TensorText(*node.inputs[i]);
  }
  return text + ")";
}

const mslite_kernel *ChooseKernel(const mslite_node &node, const IsaSet &isas, std::string *why) {
  std::string problem = QuantisedProblem(node);
  const mslite_kernel *best = nullptr;
  int32_t best_score = 0;
  bool any = false;
  for (int32_t i = 0; i < mslite_kernel_count; ++i) {
    const mslite_kernel *kernel = mslite_kernels[i];
    if (kernel->op != node.op) continue;
    any = true;
    if ((kernel->quantised != 0) == problem.empty()) continue;
    if (!isas.Has(kernel->isa)) continue;
    const int32_t score = kernel->support(&node);
    if (score <= 0) continue;
    if (best == nullptr || score > best_score || (score == best_score && kernel->isa > best->isa)) {
      best = kernel;
      best_score = score;
    }
  }
  if (best == nullptr && why != nullptr) {
    if (!problem.empty()) {
      *why = std::move(problem);
      return nullptr;
    }
    *why = NodeText(node) + (any ? ": no kernel takes these types, shapes and attributes"
                                 : ": this operator has no kernel in this library");
  }
  return best;
}

}  // namespace mslite
