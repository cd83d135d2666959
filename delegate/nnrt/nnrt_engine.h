// The backend for OpenHarmony's Neural Network Runtime.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_ENGINE_H
#define MSLITE_DELEGATE_NNRT_NNRT_ENGINE_H

#include <memory>
#include <string>

#include "engine/engine.h"
#include "nnrt/nnrt_device.h"

namespace mslite {
class NnrtEngine : public Engine {
 public:
  explicit NnrtEngine(NnrtSettings settings) : settings_(std::move(settings)) {}

  std::string name() const override {
    const std::string &device = device_ == nullptr ? settings_.device : device_->name();
    return device.empty() ? "NNRT" : "NNRT (" + device + ")";
  }
  Status Start() override { return NnrtDevice::Find(settings_, &device_); }
  std::string UnsupportedReason(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;

 private:
  NnrtSettings settings_;
  std::shared_ptr<NnrtDevice> device_;
};
}  // namespace mslite

#endif
