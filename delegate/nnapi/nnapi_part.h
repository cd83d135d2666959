// A partition that runs on NNAPI.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_PART_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_PART_H

#include <memory>
#include <vector>

#include "engine/engine.h"
#include "nnapi/nnapi_device.h"
#include "nnapi/nnapi_plan.h"

namespace mslite {
class NnapiPart : public CompiledPart {
 public:
  NnapiPart(const Part &part, std::shared_ptr<NnapiDevice> device)
      : part_(part), device_(std::move(device)), compiled_(device_->library()) {}

  Status Prepare() override;
  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override;

 private:
  const Part &part_;
  std::shared_ptr<NnapiDevice> device_;
  NnapiGraph graph_;
  GraphBoundary border_;
  NnapiCompiled compiled_;  // refers to constants of the graph
};
}  // namespace mslite

#endif
