// The backend for OpenVINO.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_ENGINE_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_ENGINE_H

#include <memory>
#include <string>

#include "engine/costs.h"
#include "engine/engine.h"
#include "openvino/openvino_device.h"

namespace mslite {
class OpenVinoEngine : public Engine {
 public:
  // The arguments are those of OpenVinoDevice::Find.
  explicit OpenVinoEngine(std::string device, int32_t threads = 0) : wanted_(std::move(device)), threads_(threads) {}

  std::string name() const override { return "OpenVINO (" + (device_ == nullptr ? wanted_ : device_->name()) + ")"; }
  Status Start() override { return OpenVinoDevice::Find(wanted_, threads_, &device_); }
  std::string UnsupportedReason(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;
  bool MayRunInParallel() const override { return true; }
  double FlopsPerSecond() const override { return wanted_ == "CPU" ? kFlopsPerSecond : Engine::FlopsPerSecond(); }

 private:
  std::string wanted_;
  int32_t threads_;
  std::shared_ptr<OpenVinoDevice> device_;
};
}  // namespace mslite

#endif
