// The backend for Android's Neural Networks API.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_ENGINE_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_ENGINE_H

#include <memory>
#include <string>

#include "engine/engine.h"
#include "nnapi/nnapi_device.h"

namespace mslite {
class NnapiEngine : public Engine {
 public:
  // The arguments are those of NnapiDevice::Find.
  NnapiEngine(std::string device, bool is_half) : wanted_(std::move(device)), is_half_(is_half) {}

  std::string name() const override {
    const std::string &device = device_ == nullptr ? wanted_ : device_->name();
    return device.empty() ? "NNAPI" : "NNAPI (" + device + ")";
  }
  Status Start() override { return NnapiDevice::Find(wanted_, is_half_, &device_); }
  std::string UnsupportedReason(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;

 private:
  std::string wanted_;
  bool is_half_;
  std::shared_ptr<NnapiDevice> device_;
};
}  // namespace mslite

#endif
