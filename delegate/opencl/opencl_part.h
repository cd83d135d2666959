// A partition on an OpenCL device: its launches, constants and tensor memory.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_PART_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_PART_H

#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "opencl/opencl_border.h"
#include "opencl/opencl_counts.h"
#include "opencl/opencl_device.h"
#include "opencl/opencl_images.h"
#include "opencl/opencl_plan.h"
#include "opencl/opencl_storage.h"

namespace mslite {
class OpenClPart : public CompiledPart {
 public:
  OpenClPart(const Part &part, std::shared_ptr<OpenClDevice> device, std::shared_ptr<const OpenClStorage> storage)
      : device_(std::move(device)), part_(part), storage_(std::move(storage)) {}
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
  // The memory of an operand on the device.
  struct Memory {
    cl_mem memory = nullptr;
    const char *type = "int";  // of an element, in OpenCL C
    OpenClForm form = OpenClForm::kArray;
  };
  // A constant that has been uploaded.
  struct Stored {
    std::unique_ptr<OpenClBuffer> buffer;
    OpenClForm form = OpenClForm::kArray;  // of the values, also in an image
    OpenClImageShape shape;                // if it is an image
  };
  // The execution steps in which a tensor needs memory.
  struct Life {
    int32_t first = 0;
    int32_t last = 0;
  };
  std::vector<int32_t> Roots(const std::vector<OpenClPlan> &plans) const;
  Status LayOut(const std::vector<OpenClPlan> &plans);
  Status LayOutImages(const std::map<int32_t, Life> &lives);
  Status Upload(const void *contents, size_t bytes, std::unique_ptr<OpenClBuffer> *buffer) const;
  Status MakeFaults(const std::vector<OpenClPlan> &plans);
  Status Store(const std::vector<float> &numbers, OpenClForm form, const OpenClImageShape *image, Stored *stored) const;
  Status UploadConstants(const std::vector<OpenClPlan> &plans);
  Status MakeLaunches(const std::vector<OpenClPlan> &plans);
  Status UploadWeight(int32_t root);
  Memory MemoryOf(size_t node, const OpenClOperand &operand) const;
  Memory MemoryOfTensor(int32_t tensor) const;
  // Returns the definitions that precede the source of the launch's kernel.
  std::string DefinesOf(size_t node, const OpenClLaunch &launch) const;
  // Builds the launch of a node with this tile and work-group size.
  Status MakeReady(size_t node, const OpenClLaunch &launch, const OpenClChoice &choice, ReadyLaunch *ready);
  // Returns the fastest choice: from the cache, or measured if tuning is enabled, else the first one.
  OpenClChoice Choose(size_t node, const OpenClLaunch &launch);
  struct Extent {
    int64_t elements = 0;
    int64_t element_bytes = 1;
  };
  Extent ExtentOf(size_t node, const OpenClPlan &plan, const OpenClOperand &operand) const;
  void Count(const std::vector<OpenClPlan> &plans, const std::vector<OpenClChoice> &choices);
  int64_t ConstantBytes(const std::vector<OpenClPlan> &plans) const;
  void CountLaunch(size_t node, const OpenClPlan &plan, const OpenClLaunch &launch, const OpenClChoice &choice);
  void MakeBorder(const std::vector<OpenClPlan> &plans);
  Status Enqueue(const std::vector<const void *> &inputs, const std::vector<void *> &outputs);
  Status CheckFaults();

  std::shared_ptr<OpenClDevice> device_;  // destroyed last
  const Part &part_;
  std::shared_ptr<const OpenClStorage> storage_;
  std::map<int32_t, Stored> weights_;           // tensor -> constant of the model; kept when shapes change
  std::vector<std::vector<Stored>> constants_;  // of each node
  std::unique_ptr<OpenClBuffer> arena_;
  std::vector<std::unique_ptr<OpenClBuffer>> pieces_;  // of the arena
  std::vector<int32_t> roots_;                         // for each tensor: the tensor that has its memory
  OpenClImages images_;
  std::vector<std::unique_ptr<OpenClBuffer>> image_memory_;
  std::map<int32_t, size_t> tensor_images_;          // of roots
  std::vector<OpenClForm> forms_;                    // of each tensor
  std::map<int32_t, size_t> tensor_pieces_;          // of roots
  std::vector<std::vector<size_t>> scratch_pieces_;  // of each node
  std::unique_ptr<OpenClBuffer> fault_memory_;
  std::map<size_t, std::unique_ptr<OpenClBuffer>> faults_;  // node -> int that it sets on a fault
  std::vector<uint8_t> met_;                                // copy of fault_memory_ on the host
  std::vector<ReadyLaunch> launches_;
  OpenClBorder border_;
  OpenClCounts counts_;
};
}  // namespace mslite

#endif
