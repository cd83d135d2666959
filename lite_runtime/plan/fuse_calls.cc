// Planning between shape inference and the choice of kernels: fuses calls.
#include <algorithm>

#include "plan/planner.h"

namespace mslite {
// Replaces calls by the fused steps of the program that fit.
void Planner::FuseCalls() {
  if (plan_->is_data_dependent) return;
  const auto find = [this](int32_t position) -> Call * {
    const auto place = std::lower_bound(calls_.begin(), calls_.end(), position,
                                        [](const Call &call, int32_t wanted) { return call.position < wanted; });
    return place == calls_.end() || place->position != position ? nullptr : &*place;
  };
  for (const FusedStep &fused : program_.fused) {
    Call *first = find(fused.first);
    Call *last = find(fused.last);
    // The sum of two convolutions is fused with one of them only.
    const bool is_fused = last != nullptr && last->step == &program_.steps[static_cast<size_t>(fused.last)];
    if (first == nullptr || !is_fused || first->registered != nullptr || last->registered != nullptr) continue;
    if (!Fits(fused)) continue;
    *last = {&fused.step, fused.node, fused.last, nullptr};
    first->step = nullptr;
    // The fused call reads the inputs of the first call later.
    for (const int32_t input : fused.step.inputs) {
      int32_t &use = last_use_[static_cast<size_t>(input)];
      use = std::max(use, fused.last);
    }
  }
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), [](const Call &call) { return call.step == nullptr; }),
               calls_.end());
}

// Returns whether all summands have the same shape, none is constant, and a kernel supports the fused call.
bool Planner::Fits(const FusedStep &fused) const {
  const ProgramStep &sum = program_.steps[static_cast<size_t>(fused.last)];
  const TensorShape shape = ShapeOf(tensors_[static_cast<size_t>(sum.outputs[0])]);
  const auto is_part = [&](int32_t input) {
    const State state = states_[static_cast<size_t>(input)];
    return (state == State::kTemporary || state == State::kValue) &&
           ShapeOf(tensors_[static_cast<size_t>(input)]) == shape;
  };
  if (!std::all_of(sum.inputs.begin(), sum.inputs.end(), is_part)) return false;
  std::vector<const mslite_tensor *> operands;
  for (const std::vector<int32_t> *list : {&fused.step.inputs, &fused.step.outputs}) {
    for (const int32_t local : *list) operands.push_back(&tensors_[static_cast<size_t>(local)]);
  }
  const mslite_node call = {fused.node->op,
                            fused.node->params,
                            static_cast<int32_t>(fused.step.inputs.size()),
                            static_cast<int32_t>(fused.step.outputs.size()),
                            operands.data(),
                            operands.data() + fused.step.inputs.size(),
                            fused.node->quant_type};
  std::string why;
  return ChooseKernel(call, options_.isas, &why, options_.more_kernels) != nullptr;
}
}  // namespace mslite
