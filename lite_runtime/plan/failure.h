// An invalid value that a kernel found while it ran, such as an index out of range.
#ifndef MSLITE_PLAN_FAILURE_H
#define MSLITE_PLAN_FAILURE_H

#include <atomic>
#include <string>
#include <thread>
#include <tuple>

#include "kernel.h"
#include "model/message.h"

namespace mslite {
/// Keeps the first failure in the order of steps, inputs and positions, independent of the order of threads.
class FailureRecord {
 public:
  /// Adds a part's failure. Any thread may call it. Costs one comparison if the part did not fail.
  void Add(const mslite_failure &failure, int32_t step = 0) {
    if (failure.status == MSLITE_OK) return;
    while (busy_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    const auto place = std::make_tuple(step, failure.input, failure.position);
    if (first_.status == MSLITE_OK || place < std::make_tuple(step_, first_.input, first_.position)) {
      first_ = failure;
      step_ = step;
    }
    busy_.store(false, std::memory_order_release);
  }

  /// The first failure and its step; call them after all parts are done. Status MSLITE_OK if there was no failure.
  const mslite_failure &first() const { return first_; }
  int32_t step() const { return step_; }

 private:
  std::atomic<bool> busy_{false};
  mslite_failure first_ = {};
  int32_t step_ = 0;
};

/// Returns the message for the user.
inline std::string FailureText(const mslite_failure &failure) {
  const std::string text = Format("its input %d holds %lld at position %lld", static_cast<int>(failure.input),
                                  static_cast<long long>(failure.value), static_cast<long long>(failure.position));
  if (failure.high <= failure.low) return text + ", but the range is empty";
  return text + Format("; it must be between %lld and %lld", static_cast<long long>(failure.low),
                       static_cast<long long>(failure.high - 1));
}
}  // namespace mslite

#endif
