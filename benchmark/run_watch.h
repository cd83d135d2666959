// RunWatch: prints a note if a run takes very long, with the flag that limits it.
#ifndef MSLITE_BENCHMARK_RUN_WATCH_H
#define MSLITE_BENCHMARK_RUN_WATCH_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mslite::benchmark {

// Prints one note to standard error if no run has ended for `patience`. Its thread only waits, so that it does not
// affect the measurement.
class RunWatch {
 public:
  explicit RunWatch(std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~RunWatch();
  RunWatch(const RunWatch &) = delete;
  RunWatch &operator=(const RunWatch &) = delete;

  // Called when a run starts or has ended, from any thread.
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
