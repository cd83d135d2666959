#include "exec/run_control.h"

namespace mslite {
void RunControl::Start() {
  steps_.store(0);
  if (limits_.milliseconds > 0) {
    deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(limits_.milliseconds);
  }
  state_.store(State::kRunning);
}

bool RunControl::Cancel() {
  State expected = State::kRunning;
  return state_.compare_exchange_strong(expected, State::kCancelled) || expected != State::kIdle;
}

bool RunControl::Stop(State reason) {
  State expected = State::kRunning;
  state_.compare_exchange_strong(expected, reason);
  return true;
}

bool RunControl::Stops() {
  if (state_.load(std::memory_order_relaxed) != State::kRunning) return true;
  if (limits_.steps > 0 && steps_.fetch_add(1, std::memory_order_relaxed) >= limits_.steps) {
    return Stop(State::kTooManySteps);
  }
  if (limits_.milliseconds > 0 && std::chrono::steady_clock::now() >= deadline_) return Stop(State::kTooLong);
  return false;
}

Status RunControl::Reason() const {
  switch (state_.load()) {
    case State::kCancelled:
      return Fail(mindspore::kLiteServiceDeny, "the run was canceled");
    case State::kTooManySteps:
      return Fail(mindspore::kLiteServiceDeny,
                  Format("the run was stopped after %lld operators: step limit (RunLimits; benchmark --stepLimit)",
                         static_cast<long long>(limits_.steps)));
    case State::kTooLong:
      return Fail(mindspore::kLiteServiceDeny,
                  Format("the run was stopped after %lld ms: time limit (RunLimits; benchmark --timeLimit)",
                         static_cast<long long>(limits_.milliseconds)));
    default:
      return mindspore::kSuccess;
  }
}
}  // namespace mslite
