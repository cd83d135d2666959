#include "plan/rewrite/obfuscation_ratio.h"

#include <cstring>
#include <string>

#include "kernel.h"
#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
constexpr char kMark[] = "obf_op-obf_mul";

Status SetOperand(float ratio, size_t place, Node *node, Graph *graph) {
  const Tensor &old = graph->tensors[static_cast<size_t>(node->inputs[place])];
  if (old.type != MSLITE_FLOAT32) {
    return Fail(mindspore::kLiteNotSupport, Describe(*node) + ": obf_ratio can only replace a float32 constant");
  }
  const bool is_one = old.size == sizeof ratio;
  const std::vector<int64_t> dims = is_one ? old.dims : std::vector<int64_t>{1, 1};
  uint8_t *data = nullptr;
  int32_t index = 0;
  MSLITE_TRY(NewNodes(graph).AddConstant("obf_ratio", MSLITE_FLOAT32, dims, &data, &index));
  std::memcpy(data, &ratio, sizeof ratio);
  node->inputs[place] = index;
  return mindspore::kSuccess;
}
}  // namespace

Status SetObfuscationRatio(float ratio, Graph *graph) {
  for (Node &node : graph->nodes) {
    if (node.name.find(kMark) == std::string::npos) continue;
    for (size_t place = 0; place < node.inputs.size(); ++place) {
      const int32_t input = node.inputs[place];
      if (input < 0 || !graph->tensors[static_cast<size_t>(input)].is_constant) continue;
      MSLITE_TRY(SetOperand(ratio, place, &node, graph));
      break;
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
