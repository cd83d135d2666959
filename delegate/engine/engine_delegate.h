// EngineDelegate: a delegate that offers the nodes of a model to a backend.
#ifndef MSLITE_DELEGATE_ENGINE_ENGINE_DELEGATE_H
#define MSLITE_DELEGATE_ENGINE_ENGINE_DELEGATE_H

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "registry/placement.h"

namespace mslite {
class EngineDelegate : public mindspore::Delegate, public PlacementReporter {
 public:
  explicit EngineDelegate(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  mindspore::Status Init() override { return engine_->Start(); }
  mindspore::Status Build(mindspore::LiteDelegateGraph *model) override;

  std::string engine_name() const override { return engine_->name(); }
  const std::vector<Placement> &placements() const override { return placements_; }
  std::string failure() const override { return *failure_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::vector<Placement> placements_;
  std::shared_ptr<std::string> failure_ = std::make_shared<std::string>();  // shared with the kernels
};
}  // namespace mslite

#endif
