// The kernels for inference and for training in one list.
#ifndef MSLITE_PLAN_EVERY_KERNEL_H
#define MSLITE_PLAN_EVERY_KERNEL_H

#include <vector>

#include "kernel.h"

namespace mslite {
/// Returns the kernels of both tables, in table order. For programs that link both tables and examine single kernels:
/// naming a table links all of its kernels.
inline std::vector<const mslite_kernel *> EveryKernel() {
  std::vector<const mslite_kernel *> kernels(mslite_kernels, mslite_kernels + mslite_kernel_count);
  const mslite_kernel_list &training = mslite_training_kernels;
  kernels.insert(kernels.end(), training.kernels, training.kernels + training.count);
  return kernels;
}
}  // namespace mslite

#endif
