// Picks the kernel that runs a node.
#ifndef MSLITE_PLAN_CHOOSE_KERNEL_H
#define MSLITE_PLAN_CHOOSE_KERNEL_H

#include <algorithm>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/internal_api.h"
#include "plan/cpu_features.h"
#include "plan/training_library.h"

namespace mslite {

using KernelList = mslite_kernel_list;
using KernelLists = std::vector<KernelList>;

/// This library's table. The Python modules ask for it here: the table itself is not exported, and naming it would link
/// every kernel into them.
MSLITE_INTERNAL_API KernelList OwnKernels();

/// Those of this library's table that run the operator, in order of listing.
struct KernelSlice {
  std::vector<const mslite_kernel *>::const_iterator first;
  std::vector<const mslite_kernel *>::const_iterator last;
  auto begin() const { return first; }
  auto end() const { return last; }
};
KernelSlice KernelsOf(int32_t op);

/// Some kernel of the operator tells the output shapes when the inputs are there.
MSLITE_INTERNAL_API bool HasCountingKernel(int32_t op);

/// True for operators that only the training library has kernels of.
MSLITE_INTERNAL_API bool OnlyTrainingHas(int32_t op);

/// Whether one of the operator's kernels is as `is_one` asks, those of the training library among them where this
/// library has none.
template <typename Condition>
bool AnyKernelOf(int32_t op, const Condition &is_one) {
  const KernelSlice own = KernelsOf(op);
  if (std::any_of(own.begin(), own.end(), is_one)) return true;
  if (!IsTrainingOperator(op)) return false;
  const KernelList training = TrainingKernels();
  return std::any_of(training.kernels, training.kernels + training.count,
                     [&](const mslite_kernel *kernel) { return kernel->op == op && is_one(kernel); });
}

/// The kernel with the highest support score; among equals the higher instruction set, then the earlier entry, those of
/// `more`, which are not in this library's table, last. Where none of these takes an operator of training, that of the
/// training library. nullptr when there is none, with operator and types in `why`. All dimensions of the inputs are
/// known.
const mslite_kernel *ChooseKernel(const mslite_node &node, const IsaSet &isas, std::string *why,
                                  const KernelLists &more = {});

/// "Add(float32[2,3], int64[])": how messages show a node.
std::string NodeText(const mslite_node &node);

/// Whether the call needs no run: kernels may still count through the rows of a result [2147483647, 0].
bool WritesNothing(const mslite_node &call);

}  // namespace mslite

#endif
