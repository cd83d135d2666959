#include "engine/choice.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "model/names.h"
#include "plan/work.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// What a part costs on the CPU, and at its border: a phone's core, and its memory.
constexpr double kFlopsPerSecond = 2e10;
constexpr double kBytesPerSecond = 1e10;
constexpr double kCopiedBytesPerSecond = 4e9;

// An operand whose shape is open; null where there is none.
const Part::Tensor *OpenOperand(const Part &part, const Part::Node &node) {
  for (const std::vector<int32_t> *operands : {&node.inputs, &node.outputs}) {
    for (const int32_t index : *operands) {
      const Part::Tensor &tensor = part.tensors[static_cast<size_t>(index)];
      if (!HasShape(tensor.value)) return &tensor;
    }
  }
  return nullptr;
}

Placement PlacementOf(const Engine &engine, const Part &part, const Part::Node &node) {
  Placement placement;
  placement.node = node.name;
  placement.op = OperatorName(node.op);
  const auto *offer = dynamic_cast<const Offer *>(node.kernel);
  if (offer != nullptr && !offer->provider().empty()) {
    placement.reason = "the kernel that '" + offer->provider() + "' has registered runs it";
  } else if (node.params == nullptr) {
    placement.reason = "only the library knows the operator";
  } else if (const Part::Tensor *open = OpenOperand(part, node); open != nullptr) {
    placement.reason = "the shape of '" + open->name + "' is open until the model runs";
  } else {
    const Part::Call call(part, node);
    placement.reason = engine.WhyNot(call.node());
    placement.flops = CountFlops(call.node());
  }
  return placement;
}

// Whether the CPU would need longer for these kernels than the copies at their border take.
bool IsWorthIt(const Part &whole, const std::vector<Kernel *> &kernels, const Border &border) {
  if (const char *costs = std::getenv("MSLITE_DELEGATE_COSTS"); costs != nullptr && std::string(costs) == "off") {
    return true;
  }
  const std::set<const Kernel *> chosen(kernels.begin(), kernels.end());
  double compute = 0;
  for (const Part::Node &node : whole.nodes) {
    if (chosen.count(node.kernel) == 0) continue;
    const Part::Call call(whole, node);
    compute += static_cast<double>(CountFlops(call.node())) / kFlopsPerSecond +
               static_cast<double>(CountBytes(call.node())) / kBytesPerSecond;
  }
  double copied = 0;
  for (const std::vector<MSTensor> *tensors : {&border.inputs, &border.outputs}) {
    for (const MSTensor &tensor : *tensors) copied += static_cast<double>(tensor.DataSize());
  }
  return compute >= copied / kCopiedBytesPerSecond;
}
}  // namespace

Status ReadModel(mindspore::LiteDelegateGraph *model, Part *whole) {
  MSLITE_TRY(whole->Read(*model->nodes(), {model->inputs(), model->outputs()}));
  whole->Infer();
  return mindspore::kSuccess;
}

std::vector<KernelRange> ChooseParts(const Engine &engine, const Part &whole, mindspore::LiteDelegateGraph *model,
                                     std::vector<Placement> *placements) {
  placements->clear();
  std::map<const Kernel *, size_t> positions;
  for (const Part::Node &node : whole.nodes) {
    positions[node.kernel] = placements->size();
    placements->push_back(PlacementOf(engine, whole, node));
  }
  const auto placement_of = [&](const Kernel *kernel) -> Placement & { return (*placements)[positions[kernel]]; };
  const auto kernels_of = [&](KernelRange range) {
    const auto begin = model->BeginKernelIterator();
    return std::vector<Kernel *>(begin + static_cast<std::ptrdiff_t>(range.begin),
                                 begin + static_cast<std::ptrdiff_t>(range.end));
  };
  std::vector<KernelRange> worthy;
  for (const KernelRange range :
       SupportedRanges(model, [&](Kernel *kernel) { return placement_of(kernel).reason.empty(); })) {
    const std::vector<Kernel *> kernels = kernels_of(range);
    if (IsWorthIt(whole, kernels, BorderOf(model, range))) {
      worthy.push_back(range);
      continue;
    }
    for (const Kernel *kernel : kernels) {
      placement_of(kernel).reason = "copying to the device and back would take longer than computing it";
    }
  }
  auto part = static_cast<int32_t>(worthy.size());
  for (const KernelRange range : worthy) {
    --part;
    for (const Kernel *kernel : kernels_of(range)) placement_of(kernel).part = part;
  }
  return worthy;
}
}  // namespace mslite
