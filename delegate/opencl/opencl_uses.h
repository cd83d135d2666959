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
  // `roots`: of each tensor, the one whose memory it has. It must live as long as this object.
  OpenClUses(const Part &part, const std::vector<int32_t> &roots, const std::vector<OpenClPlan> &plans);

  // The plan whose launch is the only one that writes the tensor, which is read once and by launches alone; null where
  // there is none.
  OpenClPlan *OnlyWriter(const OpenClOperand &operand, std::vector<OpenClPlan> *plans) const;
  // Whether both are tensors with the same memory.
  bool IsSame(const OpenClOperand &a, const OpenClOperand &b) const;
  // Whether the plan gives this tensor alone.
  bool HasOneOutput(const OpenClPlan &plan, const OpenClOperand &output) const;
  // What this plan's launches write was another plan's.
  void Move(const OpenClPlan &to, const std::vector<OpenClPlan> &plans);

 private:
  int32_t RootOf(int32_t tensor) const { return roots_[static_cast<size_t>(tensor)]; }

  const std::vector<int32_t> &roots_;
  std::vector<int32_t> reads_;  // launches' arguments
  std::vector<int32_t> writes_;
  std::vector<size_t> writers_;  // the plans
  std::set<int32_t> at_border_;
};

// What the launch writes; null where it writes nothing.
OpenClLaunch::Argument *OutputOf(OpenClLaunch *launch);
}  // namespace mslite

#endif
