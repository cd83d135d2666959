#include "run_watch.h"

#include <iostream>

namespace mslite::benchmark {

RunWatch::RunWatch(std::chrono::milliseconds patience)
    : patience_(patience), last_(std::chrono::steady_clock::now()), thread_([this] { Wait(); }) {}

RunWatch::~RunWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void RunWatch::Tick() {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_ = std::chrono::steady_clock::now();
}

void RunWatch::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_over_) {
    const auto end = last_ + patience_;
    wake_.wait_until(lock, end);
    if (is_over_ || last_ + patience_ != end || std::chrono::steady_clock::now() < end) continue;
    std::cerr << "note: no run has ended for " << std::chrono::duration_cast<std::chrono::seconds>(patience_).count()
              << " s. Use --timeLimit=MS to end runs that take longer than MS milliseconds\n";
    return;
  }
}

}  // namespace mslite::benchmark
