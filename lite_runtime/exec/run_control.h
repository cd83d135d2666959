// Stops a run between two operators because another thread cancels it, or because it reaches a limit.
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

  // Stops the current run; may be called by any thread. Returns false if there is no run.
  bool Cancel();
  // Is called before each operator and each call of a graph, and counts them. Returns true if the run must stop.
  bool Stops();
  // Returns kLiteServiceDeny with the reason if the run was stopped.
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
