#include "plan/quantised.h"

#include "plan/choose_kernel.h"

namespace mslite {
namespace {
constexpr int32_t kQuantAll = 5;  // QuantType of the file: weights and activations are quantised

// What the operator does with the values.
enum class Use : uint8_t { kComputes, kMoves, kReadsRecords };

Use UseOf(int32_t op) {
  switch (op) {
    case MSLITE_OP_QuantDTypeCast:
      return Use::kReadsRecords;
    case MSLITE_OP_Shape:
    case MSLITE_OP_Rank:
    case MSLITE_OP_Size:
    case MSLITE_OP_Reshape:
    case MSLITE_OP_Flatten:
    case MSLITE_OP_ExpandDims:
    case MSLITE_OP_Squeeze:
    case MSLITE_OP_Unsqueeze:
    case MSLITE_OP_Transpose:
    case MSLITE_OP_FormatTranspose:
    case MSLITE_OP_DepthToSpace:
    case MSLITE_OP_SpaceToDepth:
    case MSLITE_OP_BatchToSpace:
    case MSLITE_OP_BatchToSpaceND:
    case MSLITE_OP_ReverseV2:
    case MSLITE_OP_ReverseSequence:
    case MSLITE_OP_Concat:
    case MSLITE_OP_Stack:
    case MSLITE_OP_Unstack:
    case MSLITE_OP_Split:
    case MSLITE_OP_SplitWithOverlap:
    case MSLITE_OP_SliceFusion:
    case MSLITE_OP_StridedSlice:
    case MSLITE_OP_Crop:
    case MSLITE_OP_TileFusion:
    case MSLITE_OP_BroadcastTo:
    case MSLITE_OP_Gather:
    case MSLITE_OP_GatherNd:
    case MSLITE_OP_GatherD:
    case MSLITE_OP_Select:
      return Use::kMoves;
    default:
      return Use::kComputes;
  }
}

bool IsNarrow(const mslite_tensor &tensor) {
  return tensor.type == MSLITE_INT8 || tensor.type == MSLITE_UINT8 || tensor.type == MSLITE_INT16;
}

bool SameRecords(const mslite_tensor &a, const mslite_tensor &b) {
  if (a.type != b.type || a.quant_count != b.quant_count) return false;
  for (int32_t i = 0; i < a.quant_count; ++i) {
    if (a.quant[i].scale != b.quant[i].scale || a.quant[i].zero_point != b.quant[i].zero_point) return false;
  }
  return true;
}

// Calls `visit` for each operand until it returns true; whether one did.
template <typename Visit>
bool AnyOperand(const mslite_node &node, Visit visit) {
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (node.inputs[i] != nullptr && visit(*node.inputs[i])) return true;
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (node.outputs[i] != nullptr && visit(*node.outputs[i])) return true;
  }
  return false;
}
}  // namespace

std::string QuantisedProblem(const mslite_node &node) {
  const Use use = UseOf(node.op);
  if (use == Use::kReadsRecords) return "";
  const bool is_quantised = AnyOperand(node, [&node](const mslite_tensor &tensor) {
    return IsNarrow(tensor) && (tensor.quant_count > 0 || node.quant_type == kQuantAll);
  });
  if (!is_quantised) return "";
  if (use == Use::kComputes) {
    return NodeText(node) + ": arithmetic on quantised integers is not built; use the float model";
  }
  // An output without records has those of the inputs.
  const mslite_tensor *first = nullptr;
  const bool differ = AnyOperand(node, [&first](const mslite_tensor &tensor) {
    if (!IsNarrow(tensor) || tensor.quant_count == 0) return false;
    if (first == nullptr) first = &tensor;
    return !SameRecords(*first, tensor);
  });
  return differ ? NodeText(node) + ": moving values between different quantisations is not built; use the float model"
                : "";
}
}  // namespace mslite
