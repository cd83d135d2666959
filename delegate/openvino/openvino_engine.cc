#include "openvino/openvino_engine.h"

#include "model/message.h"
#include "openvino/openvino_part.h"
#include "openvino/openvino_plan.h"

namespace mslite {
namespace {
std::string WhyNotTensor(const mslite_tensor &tensor) {
  if (tensor.quant_count > 0) return "a tensor is quantized";
  if (OpenVinoType(tensor.type) == nullptr) return "a data type other than float32, int32, int64 and bool";
  if (CountIn(tensor) <= 0) return "a tensor is empty";
  return FitsIn32Bits(tensor, tensor.data) ? "" : "an int64 value is outside 32 bits";
}
}  // namespace

std::string OpenVinoEngine::UnsupportedReason(const mslite_node &node) const {
  const OpenVinoOperator *entry = FindOpenVinoOperator(node.op);
  if (entry == nullptr && !IsKnown(node)) return "the backend does not support the operator";
  if (node.quant_type != 0) return "the operator is quantized";
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (std::string reason = WhyNotTensor(*node.inputs[i]); !reason.empty()) return reason;
  }
  for (int32_t i = 0; i < node.output_count; ++i) {
    if (std::string reason = WhyNotTensor(*node.outputs[i]); !reason.empty()) return reason;
  }
  return IsKnown(node) ? "" : entry->why_not(node);
}

Status OpenVinoEngine::Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) {
  *compiled = std::make_unique<OpenVinoPart>(part, device_);
  return mindspore::kSuccess;
}
}  // namespace mslite
