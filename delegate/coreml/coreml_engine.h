// The Core ML backend: each partition is written as a model specification, which Core ML compiles.
#ifndef MSLITE_DELEGATE_COREML_COREML_ENGINE_H
#define MSLITE_DELEGATE_COREML_COREML_ENGINE_H

#include <memory>
#include <string>

#include "engine/engine.h"

namespace mslite {
class CoreMlEngine : public Engine {
 public:
  std::string name() const override { return "Core ML"; }
  Status Start() override;
  std::string UnsupportedReason(const mslite_node &node) const override;
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override;
};
}  // namespace mslite

#endif
