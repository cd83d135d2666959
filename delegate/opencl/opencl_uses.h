// The launches of a partition that read and write each tensor.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_USES_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_USES_H

#include <set>
#include <vector>

#include "engine/part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
class OpenClUses {
 public:
  // `roots`: for each tensor, the tensor that has its memory. It must live as long as this object.
  OpenClUses(const Part &part, const std::vector<int32_t> &roots, const std::vector<OpenClPlan> &plans);

  // Returns the plan with the only launch that writes the tensor, if exactly one launch argument reads it and it is not
  // an input or output of the partition; else null.
  OpenClPlan *OnlyWriter(const OpenClOperand &operand, std::vector<OpenClPlan> *plans) const;
  // Returns true if both are tensors with the same memory.
  bool IsSame(const OpenClOperand &a, const OpenClOperand &b) const;
  // Returns true if the tensor is the only output of the plan.
  bool HasOneOutput(const OpenClPlan &plan, const OpenClOperand &output) const;
  // Records that the launches of `to` now write tensors that another plan wrote before.
  void Move(const OpenClPlan &to, const std::vector<OpenClPlan> &plans);

 private:
  int32_t RootOf(int32_t tensor) const { return roots_[static_cast<size_t>(tensor)]; }

  const std::vector<int32_t> &roots_;
  std::vector<int32_t> reads_;  // number of launch arguments
  std::vector<int32_t> writes_;
  std::vector<size_t> writers_;  // indices of the plans
  std::set<int32_t> at_border_;
};

// Returns the first output argument of the launch; null if there is none.
OpenClLaunch::Argument *OutputOf(OpenClLaunch *launch);
}  // namespace mslite

#endif
