// Ends a run between two operators: because another thread asks for it, or because it takes too long.
#ifndef MSLITE_EXEC_RUN_CONTROL_H
#define MSLITE_EXEC_RUN_CONTROL_H

#include <atomic>
#include <chrono>

#include "include/mslite/run_control.h"
#include "model/message.h"

namespace mslite {
class RunControl {
 public:
  void SetLimits(const RunLimits &limits) { limits_ = limits; }
  void Start();
  void End() { state_.store(State::kIdle); }

  // From any thread: ends the run that goes on; false when there is none.
  bool Cancel();
  // Called by the run before each operator and each call of a graph, which it counts; true when the run must end there.
  bool Stops();
  // kLiteServiceDeny with the reason when the run was ended.
  Status Reason() const;

 private:
  enum class State : uint8_t { kIdle, kRunning, kCancelled, kTooManySteps, kTooLong };
  bool Stop(State reason);

  RunLimits limits_;
  std::atomic<State> state_{State::kIdle};
  std::atomic<int64_t> steps_{0};
  std::chrono::steady_clock::time_point deadline_;
};
}  // namespace mslite

#endif
