#include "opencl/opencl_uses.h"

#include <algorithm>

namespace mslite {
OpenClUses::OpenClUses(const Part &part, const std::vector<int32_t> &roots, const std::vector<OpenClPlan> &plans)
    : roots_(roots), reads_(roots.size()), writes_(roots.size()), writers_(roots.size()) {
  for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
    for (const int32_t tensor : *border) at_border_.insert(RootOf(tensor));
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    for (const OpenClLaunch &launch : plans[i].launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor) continue;
        const auto root = static_cast<size_t>(RootOf(argument.operand.index));
        ++(argument.is_output ? writes_ : reads_)[root];
        if (argument.is_output) writers_[root] = i;
      }
    }
  }
}

OpenClPlan *OpenClUses::OnlyWriter(const OpenClOperand &operand, std::vector<OpenClPlan> *plans) const {
  if (operand.place != OpenClOperand::kTensor) return nullptr;
  const auto root = static_cast<size_t>(RootOf(operand.index));
  if (reads_[root] != 1 || writes_[root] != 1 || at_border_.count(RootOf(operand.index)) != 0) return nullptr;
  return &(*plans)[writers_[root]];
}

bool OpenClUses::IsSame(const OpenClOperand &a, const OpenClOperand &b) const {
  return a.place == OpenClOperand::kTensor && b.place == a.place && RootOf(a.index) == RootOf(b.index);
}

bool OpenClUses::HasOneOutput(const OpenClPlan &plan, const OpenClOperand &output) const {
  const auto is_other = [&](const OpenClLaunch::Argument &argument) {
    return argument.is_output && argument.operand.place == OpenClOperand::kTensor && !IsSame(argument.operand, output);
  };
  return std::none_of(plan.launches().begin(), plan.launches().end(), [&](const OpenClLaunch &launch) {
    return std::any_of(launch.arguments.begin(), launch.arguments.end(), is_other);
  });
}

void OpenClUses::Move(const OpenClPlan &to, const std::vector<OpenClPlan> &plans) {
  const auto index = static_cast<size_t>(&to - plans.data());
  for (const OpenClLaunch &launch : to.launches()) {
    for (const OpenClLaunch::Argument &argument : launch.arguments) {
      if (argument.is_output && argument.operand.place == OpenClOperand::kTensor) {
        writers_[static_cast<size_t>(RootOf(argument.operand.index))] = index;
      }
    }
  }
}

OpenClLaunch::Argument *OutputOf(OpenClLaunch *launch) {
  const auto place = std::find_if(launch->arguments.begin(), launch->arguments.end(),
                                  [](const OpenClLaunch::Argument &argument) { return argument.is_output; });
  return place == launch->arguments.end() ? nullptr : &*place;
}
}  // namespace mslite
