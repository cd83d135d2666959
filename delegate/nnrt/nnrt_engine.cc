#include "nnrt/nnrt_engine.h"

#include "nnrt/nnrt_part.h"
#include "nnrt/nnrt_plan.h"

namespace mslite {
std::string NnrtEngine::UnsupportedReason(const mslite_node &node) const {
  NnrtGraph graph;
  if (std::string reason = WriteNnrtAlone(node, &graph); !reason.empty()) return reason;
  // Without a device, only the limits of NNRT are checked.
  return graph.operations.empty() || device_ == nullptr ? "" : device_->UnsupportedReason(graph);
}

Status NnrtEngine::Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) {
  *compiled = std::make_unique<NnrtPart>(part, device_);
  return mindspore::kSuccess;
}
}  // namespace mslite
