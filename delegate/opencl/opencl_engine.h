// The OpenCL backend for GPUs.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_ENGINE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_ENGINE_H

#include <memory>
#include <string>

#include "engine/engine.h"
#include "opencl/opencl_device.h"
#include "opencl/opencl_storage.h"

namespace mslite {
class OpenClEngine : public Engine {
 public:
  // `number`: index of the GPU. `is_half`: float tensors are stored as float16, unless they could overflow.
  explicit OpenClEngine(uint32_t number = 0, bool is_half = false)
      : number_(number), storage_(std::make_shared<OpenClStorage>(is_half)) {}

  std::string name() const override;
  Status Start() override;
  void Study(const Part &whole) override {
    storage_->Study(whole, [this](const mslite_node &node) { return UnsupportedReason(node).empty(); });
  }
  std::string UnsupportedReason(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;
  bool MayRunInParallel() const override { return true; }
  double FlopsPerSecond() const override;

 private:
  uint32_t number_;
  std::shared_ptr<OpenClStorage> storage_;
  std::shared_ptr<OpenClDevice> device_;
};
}  // namespace mslite

#endif
