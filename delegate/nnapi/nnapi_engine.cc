#include "nnapi/nnapi_engine.h"

#include "nnapi/nnapi_part.h"
#include "nnapi/nnapi_plan.h"

namespace mslite {
std::string NnapiEngine::UnsupportedReason(const mslite_node &node) const {
  NnapiGraph graph;
  if (std::string reason = WriteNnapiAlone(node, &graph); !reason.empty()) return reason;
  // Without a device, only the limits of NNAPI are checked.
  return graph.operations.empty() || device_ == nullptr ? "" : device_->UnsupportedReason(graph);
}

Status NnapiEngine::Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) {
  *compiled = std::make_unique<NnapiPart>(part, device_);
  return mindspore::kSuccess;
}
}  // namespace mslite
