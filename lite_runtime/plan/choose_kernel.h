// Chooses the kernel that runs a node.
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

/// Returns this library's kernel table. The Python modules call this function because the table is not exported. Naming
/// the table in their code would link every kernel into them.
MSLITE_INTERNAL_API KernelList OwnKernels();

/// The kernels of one operator in this library's table, in table order.
struct KernelSlice {
  std::vector<const mslite_kernel *>::const_iterator first;
  std::vector<const mslite_kernel *>::const_iterator last;
  auto begin() const { return first; }
  auto end() const { return last; }
};
KernelSlice KernelsOf(int32_t op);

/// Returns whether a kernel of the operator can compute the output shapes from the contents of the inputs (`count`).
MSLITE_INTERNAL_API bool HasDataDependentShapes(int32_t op);

/// Returns whether only the training library has kernels of the operator.
MSLITE_INTERNAL_API bool OnlyTrainingHas(int32_t op);

/// Returns whether a kernel of the operator satisfies `is_one`. Includes the training library's kernels if this library
/// has none.
template <typename Condition>
bool AnyKernelOf(int32_t op, const Condition &is_one) {
  const KernelSlice own = KernelsOf(op);
  if (std::any_of(own.begin(), own.end(), is_one)) return true;
  if (!IsTrainingOperator(op)) return false;
  const KernelList training = TrainingKernels();
  return std::any_of(training.kernels, training.kernels + training.count,
                     [&](const mslite_kernel *kernel) { return kernel->op == op && is_one(kernel); });
}

/// Returns the kernel with the highest support score. Ties are decided by the higher instruction set, then by table
/// order; kernels in `more`, which are not in this library's table, come last. If no kernel supports a training
/// operator, the training library's kernels are tried. Returns nullptr if there is none, with operator and data types
/// in `why`. All dimensions of the inputs must be known.
const mslite_kernel *ChooseKernel(const mslite_node &node, const IsaSet &isas, std::string *why,
                                  const KernelLists &more = {});

/// Returns the text of a node for messages: "Add(float32[2,3], int64[])".
std::string NodeText(const mslite_node &node);

/// Returns whether the call has no output elements, so that it need not run. Kernels would still loop over the rows of
/// a result of shape [2147483647, 0].
bool WritesNothing(const mslite_node &call);

}  // namespace mslite

#endif
