// A partition that runs on NNRT.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_PART_H
#define MSLITE_DELEGATE_NNRT_NNRT_PART_H

#include <memory>
#include <vector>

#include "engine/engine.h"
#include "nnrt/nnrt_device.h"
#include "nnrt/nnrt_plan.h"

namespace mslite {
class NnrtPart : public CompiledPart {
 public:
  NnrtPart(const Part &part, std::shared_ptr<NnrtDevice> device) : part_(part), device_(std::move(device)) {}

  Status Prepare() override;
  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override;

 private:
  const Part &part_;
  std::shared_ptr<NnrtDevice> device_;
  NnrtGraph graph_;
  GraphBoundary border_;
  NnrtCompiled compiled_;  // refers to constants of the graph
};
}  // namespace mslite

#endif
