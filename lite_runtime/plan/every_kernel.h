// The kernels for inference and those for training in one list.
#ifndef MSLITE_PLAN_EVERY_KERNEL_H
#define MSLITE_PLAN_EVERY_KERNEL_H

#include <vector>

#include "kernel.h"

namespace mslite {
/// Of both tables, in their order. For programs that have both linked to them and look at single kernels: whoever names
/// the tables gets every kernel.
inline std::vector<const mslite_kernel *> EveryKernel() {
  std::vector<const mslite_kernel *> kernels(mslite_kernels, mslite_kernels + mslite_kernel_count);
  const mslite_kernel_list &training = mslite_training_kernels;
  kernels.insert(kernels.end(), training.kernels, training.kernels + training.count);
  return kernels;
}
}  // namespace mslite

#endif
