// Says that a run goes on for long, and which flag ends it.
#ifndef MSLITE_BENCHMARK_RUN_WATCH_H
#define MSLITE_BENCHMARK_RUN_WATCH_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mslite::benchmark {

// While it lives: when no run has ended for `patience`, one note on the standard error stream. It does nothing but
// wait, so that it does not disturb what is measured.
class RunWatch {
 public:
  explicit RunWatch(std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~RunWatch();
  RunWatch(const RunWatch &) = delete;
  RunWatch &operator=(const RunWatch &) = delete;

  // A run begins or has ended; from any thread.
  void Tick();

 private:
  void Wait();

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::chrono::steady_clock::time_point last_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace mslite::benchmark

#endif
