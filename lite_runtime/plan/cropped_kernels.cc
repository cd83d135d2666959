#include "plan/cropped_kernels.h"

#include <algorithm>

#include "model/message.h"
#include "plan/quantized.h"

namespace mslite {
namespace {
constexpr size_t kListedNodes = 20;

int32_t PlainKind(const Tensor &tensor) {
  if (tensor.type == 0) return MSLITE_KIND_FLOAT32 | MSLITE_KIND_OTHER;
  return tensor.type == MSLITE_FLOAT32 ? MSLITE_KIND_FLOAT32 : MSLITE_KIND_OTHER;
}

// Returns the kind of the first input, or of the first output of a node without inputs.
int32_t PlainKind(const Graph &graph, const Node &node) {
  for (const std::vector<int32_t> *list : {&node.inputs, &node.outputs}) {
    for (const int32_t index : *list) {
      if (index >= 0) return PlainKind(graph.tensors[static_cast<size_t>(index)]);
    }
  }
  return MSLITE_KIND_OTHER;
}

int32_t KindOf(const Tensor &tensor) {
  switch (tensor.type) {
    case MSLITE_INT8:
    case MSLITE_UINT8:
      return MSLITE_KIND_INT8;
    case MSLITE_INT16:
    case MSLITE_UINT16:
      return MSLITE_KIND_INT16;
    case 0:  // unknown data type
      return MSLITE_KIND_INT8 | MSLITE_KIND_INT16 | PlainKind(tensor);
    default:
      return 0;
  }
}

// float kernels of MatMul can read int8 weights as they are stored.
bool ReadsStoredWeight(const Graph &graph, const Node &node) {
  if ((node.op != MSLITE_OP_MatMulFusion && node.op != MSLITE_OP_FullConnection) || node.inputs.size() < 2)
    return false;
  const Tensor &weight = graph.tensors[static_cast<size_t>(node.inputs[1])];
  return weight.is_constant && weight.type == MSLITE_INT8 && !weight.quant.empty();
}

std::string KindsText(int32_t kinds) {
  std::string text;
  const auto add = [&](int32_t kind, const char *name) {
    if ((kinds & kind) != 0) text += (text.empty() ? "" : " and ") + std::string(name);
  };
  add(MSLITE_KIND_FLOAT32, "float32");
  add(MSLITE_KIND_INT8, "quantized 8-bit integers");
  add(MSLITE_KIND_INT16, "quantized 16-bit integers");
  add(MSLITE_KIND_OTHER, "element types other than float32");
  return text;
}

int32_t KeptKinds(int32_t op) {
  const mslite_kept_operator *end = mslite_cropped.kept + mslite_cropped.kept_count;
  const mslite_kept_operator *entry =
      std::find_if(mslite_cropped.kept, end, [op](const auto &kept) { return kept.op == op; });
  return entry == end ? 0 : entry->kinds;
}
}  // namespace

int32_t RequiredKernelKinds(const Graph &graph, const Node &node) {
  const QuantizedUse use = QuantizedUseOf(node.op);
  if (use == QuantizedUse::kReadsQuantParams || use == QuantizedUse::kIgnores) return PlainKind(graph, node);
  int32_t kinds = 0;
  for (const std::vector<int32_t> *list : {&node.inputs, &node.outputs}) {
    for (const int32_t index : *list) {
      if (index < 0) continue;
      // Integer kernels have operands that are not constants.
      const Tensor &tensor = graph.tensors[static_cast<size_t>(index)];
      const bool is_quantized = !tensor.quant.empty() || IsQuantizedKind(node.quant_type);
      if (is_quantized && !tensor.is_constant) kinds |= KindOf(tensor);
    }
  }
  if (kinds != 0 && use != QuantizedUse::kMoves) return kinds;
  return kinds | PlainKind(graph, node) | (ReadsStoredWeight(graph, node) ? MSLITE_KIND_INT8 : 0);
}

Status CheckCroppedKernels(const Graph &graph, const std::function<bool(const Node &)> &keeps) {
  if (mslite_cropped.is_cropped == 0) return mindspore::kSuccess;
  std::string text;
  size_t found = 0;
  const auto check = [&](const Node &node) {
    if (keeps(node) || !node.custom_type.empty()) return;
    const int32_t missing = RequiredKernelKinds(graph, node) & ~KeptKinds(node.op);
    if (missing == 0 || ++found > kListedNodes) return;
    text += "\n  " + Describe(node) + ": it has no kernel for " + OperatorName(node.op) + " on " + KindsText(missing);
  };
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t index : subgraph.nodes) check(graph.nodes[static_cast<size_t>(index)]);
    for (const Fusion &fusion : subgraph.fusions) check(fusion.call);
  }
  if (found == 0) return mindspore::kSuccess;
  if (found > kListedNodes) text += "\n  ... and " + std::to_string(found - kListedNodes) + " more";
  return Fail(mindspore::kLiteNotFindOp, CroppedText(graph, text));
}
}  // namespace mslite
