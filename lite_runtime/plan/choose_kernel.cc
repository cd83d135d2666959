#include "plan/choose_kernel.h"

#include <algorithm>
#include <vector>

#include "cropped.h"
#include "model/cropping.h"
#include "model/names.h"
#include "plan/quantized.h"

namespace mslite {
namespace {
// All kernels, sorted by operator. There are many kernels, and a loop whose tensors change shape chooses kernels in
// every iteration.
const std::vector<const mslite_kernel *> &KernelsByOperator() {
  static const std::vector<const mslite_kernel *> sorted = [] {
    std::vector<const mslite_kernel *> kernels;
    kernels.reserve(static_cast<size_t>(mslite_kernel_count));
    for (int32_t i = 0; i < mslite_kernel_count; ++i) {
      const mslite_kernel *kernel = mslite_kernels[i];
      if (kernel == nullptr) continue;
      // After those of the same operator, so that the table's order is kept.
      const auto place = std::upper_bound(kernels.begin(), kernels.end(), kernel,
                                          [](const auto *a, const auto *b) { return a->op < b->op; });
      kernels.insert(place, kernel);
    }
    return kernels;
  }();
  return sorted;
}

// Computed when the library is loaded. If a fork() happened during a first call, the child would wait forever.
[[maybe_unused]] const auto &kSortedAtLoad = KernelsByOperator();
}  // namespace

KernelSlice KernelsOf(int32_t op) {
  const std::vector<const mslite_kernel *> &kernels = KernelsByOperator();
  struct ByOperator {
    bool operator()(const mslite_kernel *kernel, int32_t number) const { return kernel->op < number; }
    bool operator()(int32_t number, const mslite_kernel *kernel) const { return number < kernel->op; }
  };
  const auto [first, last] = std::equal_range(kernels.begin(), kernels.end(), op, ByOperator());
  return {first, last};
}

bool HasDataDependentShapes(int32_t op) {
  const KernelSlice kernels = KernelsOf(op);
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const mslite_kernel *kernel) { return kernel->count != nullptr; });
}

bool OnlyTrainingHas(int32_t op) {
  const KernelSlice own = KernelsOf(op);
  return IsTrainingOperator(op) && own.begin() == own.end();
}

KernelList OwnKernels() { return {mslite_kernels, mslite_kernel_count}; }

std::string NodeText(const mslite_node &node) {
  std::string text = OperatorName(node.op) + "(";
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (i > 0) text += ", ";
    text += node.inputs[i] == nullptr ? "-" : TensorText(*node.inputs[i]);
  }
  return text + ")";
}

const mslite_kernel *ChooseKernel(const mslite_node &node, const IsaSet &isas, std::string *why,
                                  const KernelLists &more) {
  std::string problem = QuantizedProblem(node);
  const mslite_kernel *best = nullptr;
  int32_t best_score = 0;
  const auto consider = [&](const mslite_kernel *kernel) {
    if (kernel->op != node.op) return;
    if ((kernel->quantized != 0) == problem.empty()) return;
    if (!isas.Has(kernel->isa)) return;
    const int32_t score = kernel->support(&node);
    if (score <= 0 || (kernel->quantized != 0 && !DependsOnOutputTypes(*kernel, node))) return;
    if (best == nullptr || score > best_score || (score == best_score && kernel->isa > best->isa)) {
      best = kernel;
      best_score = score;
    }
  };
  const KernelSlice own = KernelsOf(node.op);
  std::for_each(own.begin(), own.end(), consider);
  for (const KernelList &list : more) std::for_each(list.kernels, list.kernels + list.count, consider);
  const bool is_training = best == nullptr && IsTrainingOperator(node.op);
  const KernelList training = is_training ? TrainingKernels() : KernelList{nullptr, 0};
  std::for_each(training.kernels, training.kernels + training.count, consider);
  const bool any = own.begin() != own.end() || training.count > 0;
  if (best == nullptr && why != nullptr) {
    if (!problem.empty()) {
      *why = std::move(problem);
      return nullptr;
    }
    const int32_t operands = std::max(node.input_count, node.output_count);
    if (any && operands > MSLITE_MAX_OPERANDS) {
      *why = std::to_string(operands) + " inputs and outputs, but kernels support at most " +
             std::to_string(MSLITE_MAX_OPERANDS);
      return nullptr;
    }
    if (mslite_cropped.is_cropped != 0) {
      *why = NodeText(node) + ": " + CroppingText() + ": it has no kernel for this call";
      return nullptr;
    }
    if (is_training && training.count == 0) {
      *why = NodeText(node) + ": " + NeedsTrainingLibrary("this call");
      return nullptr;
    }
    *why = NodeText(node) + (any ? ": no kernel supports these data types, shapes and attributes"
                                 : ": this operator has no kernel in this library");
  }
  return best;
}

bool WritesNothing(const mslite_node &call) {
  const auto is_empty = [](const mslite_tensor *output) { return mslite_element_count(output) == 0; };
  return call.op != MSLITE_OP_Assert && call.output_count > 0 &&
         std::all_of(call.outputs, call.outputs + call.output_count, is_empty);
}
}  // namespace mslite
