#include "plan/quantized.h"

#include <algorithm>

#include "model/names.h"
#include "plan/choose_kernel.h"

namespace mslite {
namespace {
// Calls `visit` for each operand until it returns true. Returns whether one did.
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

QuantizedUse QuantizedUseOf(int32_t op) {
  switch (op) {
    case MSLITE_OP_QuantDTypeCast:
      return QuantizedUse::kReadsQuantParams;
    case MSLITE_OP_Shape:
    case MSLITE_OP_Rank:
    case MSLITE_OP_Size:
    case MSLITE_OP_Cast:
    case MSLITE_OP_FloorDiv: /* divides the stored integers, as TensorFlow Lite does */
    case MSLITE_OP_FloorMod:
    case MSLITE_OP_BitwiseNot:
    case MSLITE_OP_BitwiseAnd:
    case MSLITE_OP_BitwiseOr:
    case MSLITE_OP_BitwiseXor:
    case MSLITE_OP_ShiftLeft:
    case MSLITE_OP_ShiftRight:
    case MSLITE_OP_Bitcast:
    case MSLITE_OP_ReadVariable:
    case MSLITE_OP_AssignVariable:
    case MSLITE_OP_PartialFusion:
    case MSLITE_OP_Switch:
    case MSLITE_OP_SwitchLayer:
    case MSLITE_OP_Call:
    case MSLITE_OP_TensorListFromTensor:
    case MSLITE_OP_TensorListGetItem:
    case MSLITE_OP_TensorListReserve:
    case MSLITE_OP_TensorListSetItem:
    case MSLITE_OP_TensorListStack:
    case MSLITE_OP_TensorListResize:
      return QuantizedUse::kIgnores;
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
    case MSLITE_OP_BatchGather:
    case MSLITE_OP_BatchGatherNd:
    case MSLITE_OP_DynamicUpdateSlice:
    case MSLITE_OP_ScatterNdUpdate:
    case MSLITE_OP_ScatterElements:
    case MSLITE_OP_Select:
      return QuantizedUse::kMoves;
    default:
      return QuantizedUse::kComputes;
  }
}

bool SameRecords(const mslite_quant *a, size_t a_count, const mslite_quant *b, size_t b_count) {
  if (a_count != b_count) return false;
  for (size_t i = 0; i < a_count; ++i) {
    if (a[i].scale != b[i].scale || a[i].zero_point != b[i].zero_point) return false;
  }
  return true;
}

std::string QuantizedProblem(const mslite_node &node) {
  const QuantizedUse use = QuantizedUseOf(node.op);
  if (use == QuantizedUse::kReadsQuantParams || use == QuantizedUse::kIgnores) return "";
  const bool is_quantized = AnyOperand(node, [&node](const mslite_tensor &tensor) {
    return IsQuantizedIntegerType(tensor.type) && (tensor.quant_count > 0 || IsQuantizedKind(node.quant_type));
  });
  if (!is_quantized) return "";
  if (use == QuantizedUse::kComputes) return NodeText(node) + ": no kernel computes on these quantized integers";
  // An output without quantization parameters has those of the inputs.
  const mslite_tensor *first = nullptr;
  const bool differ = AnyOperand(node, [&first](const mslite_tensor &tensor) {
    if (!IsQuantizedIntegerType(tensor.type) || tensor.quant_count == 0) return false;
    if (first == nullptr) first = &tensor;
    return first->type != tensor.type || !SameRecords(first->quant, static_cast<size_t>(first->quant_count),
                                                      tensor.quant, static_cast<size_t>(tensor.quant_count));
  });
  return differ ? NodeText(node) + ": no kernel requantizes between these quantization parameters" : "";
}

void SetDeclaredTypes(int32_t op, int32_t quant_type, const std::vector<const mslite_tensor *> &inputs,
                      const std::vector<int32_t> &declared, std::vector<mslite_tensor> *outputs) {
  std::vector<int32_t> by_rule;
  std::vector<const mslite_tensor *> results;
  bool differs = false;
  for (size_t i = 0; i < outputs->size(); ++i) {
    mslite_tensor &output = (*outputs)[i];
    by_rule.push_back(output.type);
    results.push_back(&output);
    const bool holds_values = output.type == MSLITE_FLOAT32 || IsQuantizedIntegerType(output.type);
    if (!holds_values || output.quant_count == 0 || !IsQuantizedIntegerType(declared[i])) continue;
    differs = differs || output.type != declared[i];
    output.type = declared[i];
  }
  if (!differs) return;
  const mslite_node node = {op,
                            nullptr,
                            static_cast<int32_t>(inputs.size()),
                            static_cast<int32_t>(results.size()),
                            inputs.data(),
                            results.data(),
                            quant_type};
  if (!QuantizedProblem(node).empty()) return;
  for (size_t i = 0; i < outputs->size(); ++i) (*outputs)[i].type = by_rule[i];
}

bool DependsOnOutputTypes(const mslite_kernel &kernel, const mslite_node &node) {
  std::vector<const mslite_tensor *> outputs(node.outputs, node.outputs + node.output_count);
  mslite_node other = node;
  other.outputs = outputs.data();
  for (const mslite_tensor *&output : outputs) {
    if (output == nullptr || output->quant_count == 0 || !IsQuantizedIntegerType(output->type)) continue;
    const mslite_tensor *asked = output;
    mslite_tensor text = *asked;
    text.type = MSLITE_STRING;
    output = &text;
    if (kernel.support(&other) > 0) return false;
    output = asked;
  }
  return true;
}

bool HasQuantizedKernel(const mslite_node &node) {
  const KernelSlice kernels = KernelsOf(node.op);
  return std::any_of(kernels.begin(), kernels.end(), [&node](const mslite_kernel *kernel) {
    return kernel->quantized != 0 && kernel->support(&node) > 0;
  });
}
}  // namespace mslite
