// GPUs by OpenCL.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_ENGINE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_ENGINE_H

#include <memory>
#include <string>

#include "engine/engine.h"
#include "opencl/opencl_device.h"

namespace mslite {
class OpenClEngine : public Engine {
 public:
  // `number`: of the GPU, where there are several.
  explicit OpenClEngine(uint32_t number = 0) : number_(number) {}

  std::string name() const override { return device_ == nullptr ? "OpenCL" : "OpenCL (" + device_->name() + ")"; }
  Status Start() override { return OpenClDevice::Find(number_, &device_); }
  std::string WhyNot(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;
  bool MayRunBeside() const override { return true; }
  double FlopsPerSecond() const override;

 private:
  uint32_t number_;
  std::shared_ptr<OpenClDevice> device_;
};
}  // namespace mslite

#endif
