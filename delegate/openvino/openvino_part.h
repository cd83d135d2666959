// A partition that runs on OpenVINO: an inference request of the compiled model.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_PART_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_PART_H

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "openvino/openvino_device.h"

namespace mslite {
class OpenVinoPart : public CompiledPart {
 public:
  OpenVinoPart(const Part &part, std::shared_ptr<OpenVinoDevice> device)
      : device_(std::move(device)), part_(part), request_(nullptr, device_->library().ov_infer_request_free) {}

  Status Prepare() override;
  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override;

 private:
  Status ShowInput(size_t index, const void *contents);
  Status ShowOutput(size_t index, int32_t type, const OpenVinoIr::Dims &dims, void *contents);

  std::shared_ptr<OpenVinoDevice> device_;  // destroyed last
  const Part &part_;
  std::vector<uint8_t> weights_;          // used by the request
  std::vector<std::string> fault_nodes_;  // nodes with a fault output; these outputs follow those of the partition
  OpenVinoHandle<OvInferRequest> request_;
};
}  // namespace mslite

#endif
