// A part of a model on an OpenCL device: its launches, its constants, and the memory of its tensors.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PART_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PART_H

#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "opencl/opencl_border.h"
#include "opencl/opencl_counts.h"
#include "opencl/opencl_device.h"
#include "opencl/opencl_plan.h"

namespace mslite {
class OpenClPart : public CompiledPart {
 public:
  OpenClPart(const Part &part, std::shared_ptr<OpenClDevice> device) : device_(std::move(device)), part_(part) {}
  ~OpenClPart() override;
  OpenClPart(const OpenClPart &) = delete;
  OpenClPart &operator=(const OpenClPart &) = delete;

  Status Prepare() override;
  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override;

 private:
  struct ReadyLaunch {
    std::unique_ptr<OpenClKernel> kernel;
    std::array<size_t, 3> items = {};
    std::array<size_t, 3> group = {};  // zeros: the driver chooses
  };
  std::vector<int32_t> Roots(const std::vector<OpenClPlan> &plans) const;
  Status LayOut(const std::vector<OpenClPlan> &plans);
  Status Upload(const void *contents, size_t bytes, std::unique_ptr<OpenClBuffer> *buffer) const;
  Status MakeFaults(const std::vector<OpenClPlan> &plans);
  Status UploadConstants(std::vector<OpenClPlan> *plans);
  Status MakeLaunches(std::vector<OpenClPlan> *plans);
  // `ready`: the launch of a node with this tile and group.
  Status MakeReady(size_t node, const OpenClLaunch &launch, const OpenClChoice &choice, ReadyLaunch *ready);
  // The choice that is known to be the fastest, or is found to be; the first one where nothing is known.
  OpenClChoice Choose(size_t node, const OpenClLaunch &launch);
  struct Extent {
    int64_t elements = 0;
    int64_t element_bytes = 1;
  };
  Extent ExtentOf(OpenClPlan *plan, const OpenClOperand &operand) const;
  void Count(std::vector<OpenClPlan> *plans, const std::vector<OpenClChoice> &choices);
  void CountLaunch(OpenClPlan *plan, const OpenClLaunch &launch, const OpenClChoice &choice, int64_t flops);
  void MakeBorder(std::vector<OpenClPlan> *plans);
  cl_mem MemoryOf(size_t node, const OpenClOperand &operand) const;
  Status Enqueue(const std::vector<const void *> &inputs, const std::vector<void *> &outputs);
  Status CheckFaults();

  std::shared_ptr<OpenClDevice> device_;  // ends last
  const Part &part_;
  std::map<int32_t, std::unique_ptr<OpenClBuffer>>
      weights_;  // constants of the model, by tensor: kept when shapes change
  std::vector<std::vector<std::unique_ptr<OpenClBuffer>>> constants_;  // of each node
  std::unique_ptr<OpenClBuffer> arena_;
  std::vector<std::unique_ptr<OpenClBuffer>> pieces_;  // of the arena
  std::vector<int32_t> roots_;                         // of each tensor: the one whose memory it has
  std::map<int32_t, size_t> tensor_pieces_;            // of roots
  std::vector<std::vector<size_t>> scratch_pieces_;    // of each node
  std::unique_ptr<OpenClBuffer> fault_memory_;
  std::map<size_t, std::unique_ptr<OpenClBuffer>> faults_;  // of nodes that may meet an impossible value: an int each
  std::vector<uint8_t> met_;                                // the same memory here, after a run
  std::vector<ReadyLaunch> launches_;
  OpenClBorder border_;
  OpenClCounts counts_;
};
}  // namespace mslite

#endif
