// The counters of a partition: bytes moved and operations computed, from the arguments of its launches.
#include <algorithm>
#include <set>

#include "opencl/opencl_part.h"

namespace mslite {
void OpenClPart::Count(const std::vector<OpenClPlan> &plans, const std::vector<OpenClChoice> &choices) {
  const auto bytes_of = [&](int32_t tensor) {
    const mslite_tensor &value = part_.tensors[static_cast<size_t>(tensor)].value;
    return CountOf(value) * BytesPerElement(MemoryOfTensor(tensor).form, value.type);
  };
  counts_.nodes = static_cast<int64_t>(plans.size());
  counts_.launches = static_cast<int64_t>(launches_.size());
  for (const int32_t input : part_.inputs) counts_.border_bytes += bytes_of(input);
  for (const int32_t output : part_.outputs) counts_.border_bytes += bytes_of(output);
  for (const auto &[tensor, weight] : weights_) counts_.constant_bytes += bytes_of(tensor);
  counts_.border_bytes += ConstantBytes(plans);
  size_t at = 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    const OpenClPlan &plan = plans[i];
    for (size_t k = 0; k < plan.constants().size(); ++k) {
      const Extent extent = ExtentOf(i, plan, {OpenClOperand::kConstant, static_cast<int32_t>(k)});
      counts_.constant_bytes += extent.elements * extent.element_bytes;
    }
    for (const OpenClLaunch &launch : plan.launches()) CountLaunch(i, plan, launch, choices[at++]);
  }
}

// Returns the bytes of constants that the nodes read. Each constant counts once, and not more than the elements that
// launches touch (such as the rows of an embedding table).
int64_t OpenClPart::ConstantBytes(const std::vector<OpenClPlan> &plans) const {
  std::map<int32_t, int64_t> touched;  // root tensor -> elements
  for (const OpenClPlan &plan : plans) {
    for (const OpenClLaunch &launch : plan.launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor || argument.touched < 0) continue;
        touched[roots_[static_cast<size_t>(argument.operand.index)]] += argument.touched + argument.touched_per_step;
      }
    }
  }
  std::set<int32_t> constants;
  for (const Part::Node &node : part_.nodes) {
    for (const int32_t input : node.inputs) constants.insert(roots_[static_cast<size_t>(input)]);
  }
  int64_t bytes = 0;
  for (const int32_t root : constants) {
    const mslite_tensor &value = part_.tensors[static_cast<size_t>(root)].value;
    if (value.data == nullptr) continue;
    const auto place = touched.find(root);
    const int64_t count = place == touched.end() ? CountOf(value) : std::min(place->second, CountOf(value));
    bytes += count * BytesPerElement(forms_[static_cast<size_t>(root)], value.type);
  }
  return bytes;
}

OpenClPart::Extent OpenClPart::ExtentOf(size_t node, const OpenClPlan &plan, const OpenClOperand &operand) const {
  const auto index = static_cast<size_t>(operand.index);
  const OpenClForm form = MemoryOf(node, operand).form;
  if (operand.place == OpenClOperand::kTensor) {
    const mslite_tensor &value = part_.tensors[index].value;
    return {CountOf(value), BytesPerElement(form, value.type)};
  }
  const int64_t bytes = BytesPerElement(form, MSLITE_FLOAT32);  // integers have the same size
  if (operand.place == OpenClOperand::kScratch) return {plan.scratch()[index], bytes};
  const OpenClConstant &constant = plan.constants()[index];
  return {static_cast<int64_t>(constant.bytes.size() / sizeof(float) + constant.weights.size()), bytes};
}

void OpenClPart::CountLaunch(size_t node, const OpenClPlan &plan, const OpenClLaunch &launch,
                             const OpenClChoice &choice) {
  OpenClCounts::Launches &kernel = counts_.kernels[launch.file + "." + launch.function];
  const int64_t steps = launch.tile.define == nullptr ? 0 : (launch.tile.extent + choice.tile - 1) / choice.tile;
  std::set<std::pair<int32_t, int32_t>> seen;
  for (const OpenClLaunch::Argument &argument : launch.arguments) {
    const OpenClOperand &operand = argument.operand;
    if (!argument.is_buffer || operand.place == OpenClOperand::kFault) continue;
    const Extent extent = ExtentOf(node, plan, operand);
    const int64_t touched =
        argument.touched < 0 ? extent.elements : argument.touched + steps * argument.touched_per_step;
    const int64_t bytes = touched * extent.element_bytes;
    (argument.is_output ? counts_.stored_bytes : counts_.loaded_bytes) += bytes;
    kernel.items_bytes += bytes;
    if (seen.emplace(operand.place, operand.index).second) {
      counts_.operand_bytes += std::min(bytes, extent.elements * extent.element_bytes);
    }
  }
  ++kernel.count;
  kernel.flops += launch.operations;
  counts_.flops += launch.operations;
}
}  // namespace mslite
