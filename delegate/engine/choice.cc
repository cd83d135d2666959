#include "engine/choice.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/branches.h"
#include "engine/costs.h"
#include "model/names.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// Returns an input or output with an unknown shape; null if there is none.
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
    placement.reason = "the registered kernel of provider '" + offer->provider() + "' runs it";
  } else if (node.params == nullptr) {
    placement.reason = "delegates do not support the operator";
  } else if (const Part::Tensor *open = OpenOperand(part, node); open != nullptr) {
    placement.reason = "the shape of '" + open->name + "' is unknown until the model runs";
  } else {
    const Part::Call call(part, node);
    placement.reason = engine.UnsupportedReason(call.node());
    placement.flops = CountFlops(call.node());
  }
  return placement;
}

// Returns true if the CPU would need longer for these kernels than copying their inputs and outputs takes.
bool IsWorthIt(const Part &whole, const std::vector<Kernel *> &kernels, const Border &border) {
  const std::set<const Kernel *> chosen(kernels.begin(), kernels.end());
  double compute = 0;
  for (const Part::Node &node : whole.nodes) {
    if (chosen.count(node.kernel) != 0) compute += SecondsToCompute(whole, node);
  }
  double copied = 0;
  for (const std::vector<MSTensor> *tensors : {&border.inputs, &border.outputs}) {
    for (const MSTensor &tensor : *tensors) copied += static_cast<double>(tensor.DataSize());
  }
  return compute >= SecondsToCopy(copied);
}

// Plans branches that the backend and the CPU run at the same time.
Branching BranchesFor(const Engine &engine, const Part &whole, const std::vector<Placement> &placements) {
  const mindspore::Context *context = whole.nodes.empty() ? nullptr : whole.nodes[0].kernel->context();
  const bool is_wanted = context != nullptr && (context->GetEnableParallel() || context->GetInterOpParallelNum() > 1);
  if (!is_wanted || context->GetThreadNum() == 1 || !engine.MayRunInParallel()) return {};
  std::vector<bool> is_taken;
  is_taken.reserve(placements.size());
  for (const Placement &placement : placements) is_taken.push_back(placement.reason.empty());
  return PlanBranches(whole, is_taken, engine.FlopsPerSecond(), context->GetEnableParallel());
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
  const Branching branching = BranchesFor(engine, whole, *placements);
  for (const size_t node : branching.moved) {
    (*placements)[node].reason = "the CPU runs this branch while the backend runs others";
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
      // The kernels of a range are in their original order.
      std::vector<KernelRange> pieces = {range};
      for (size_t i = range.begin + 1; i < range.end; ++i) {
        const size_t before = positions[kernels[i - range.begin - 1]];
        const size_t here = positions[kernels[i - range.begin]];
        const bool is_cut = std::any_of(branching.cuts.begin(), branching.cuts.end(),
                                        [&](size_t cut) { return before < cut && cut <= here; });
        if (!is_cut) continue;
        pieces.back().end = i;
        pieces.push_back({i, range.end});
      }
      worthy.insert(worthy.end(), pieces.rbegin(), pieces.rend());
      continue;
    }
    for (const Kernel *kernel : kernels) {
      placement_of(kernel).reason = "copying to and from the device would take longer than running it on the CPU";
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
