// SupportProbe: a delegate that reports which nodes a backend supports, and replaces none.
#ifndef MSLITE_DELEGATE_ENGINE_SUPPORT_PROBE_H
#define MSLITE_DELEGATE_ENGINE_SUPPORT_PROBE_H

#include <memory>
#include <string>
#include <vector>

#include "engine/choice.h"

namespace mslite {
class SupportProbe : public mindspore::Delegate, public PlacementReporter {
 public:
  explicit SupportProbe(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

  // The nodes are also reported if the device of the backend is missing.
  mindspore::Status Init() override {
    const mindspore::Status status = engine_->Start();
    failure_ = status.IsOk() ? "" : status.GetErrDescription();
    return mindspore::kSuccess;
  }
  mindspore::Status Build(mindspore::LiteDelegateGraph *model) override {
    Part whole;
    if (const mindspore::Status status = ReadModel(model, &whole); status.IsError()) {
      failure_ = status.GetErrDescription();
      return mindspore::kSuccess;
    }
    ChooseParts(*engine_, whole, model, &placements_);
    return mindspore::kSuccess;
  }

  std::string engine_name() const override { return engine_->name(); }
  const std::vector<Placement> &placements() const override { return placements_; }
  // Returns why the backend is not available or cannot read the model.
  std::string failure() const override { return failure_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::vector<Placement> placements_;
  std::string failure_;
};
}  // namespace mslite

#endif
