#include "load.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

namespace mslite::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestSleep(50);  // between two checks if the load has been stopped

double Milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// The common state of the clients of both loops.
class Clients {
 public:
  Clients(const Service &service, const Observer &observer, const std::atomic<bool> &stop)
      : service_(service), observer_(observer), stop_(stop) {}

  bool is_over() const { return is_over_ || stop_; }
  void End() { is_over_ = true; }

  // Throws the exception of a client. Called after all clients have ended.
  void Rethrow() const {
    if (problem_ != nullptr) std::rethrow_exception(problem_);
  }

  void Send(Clock::time_point start, const Request &request, std::vector<Request> *done) {
    try {
      Ask(start, request, done);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      problem_ = std::current_exception();
      End();
    }
  }

 private:
  void Ask(Clock::time_point start, Request request, std::vector<Request> *done) {
    request.sent_ms = Milliseconds(Clock::now() - start);
    if (request.due_ms < 0) request.due_ms = request.sent_ms;
    const Answer answer = service_(request.client);
    request.end_ms = Milliseconds(Clock::now() - start);
    if (answer == Answer::kFailed) return End();
    request.is_refused = answer == Answer::kRefused;
    done->push_back(request);
    if (!observer_(request)) End();
  }

  const Service &service_;
  const Observer &observer_;
  const std::atomic<bool> &stop_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;
  std::exception_ptr problem_;
};

std::vector<Request> Joined(const std::deque<std::vector<Request>> &parts) {
  std::vector<Request> all;
  for (const std::vector<Request> &part : parts) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end(), [](const Request &a, const Request &b) {
    return std::tie(a.due_ms, a.client, a.task) < std::tie(b.due_ms, b.client, b.task);
  });
  return all;
}

LoadResult ClosedLoop(const Load &load, Clients *clients) {
  std::deque<std::vector<Request>> done(static_cast<size_t>(load.clients));
  std::promise<Clock::time_point> start;
  const std::shared_future<Clock::time_point> started = start.get_future().share();
  std::vector<std::thread> threads;
  const auto work = [&](int client) {
    const Clock::time_point begin = started.get();
    for (int64_t task = 0; (load.tasks < 0 || task < load.tasks) && !clients->is_over(); ++task) {
      clients->Send(begin, {client, task, -1}, &done[static_cast<size_t>(client)]);
    }
  };
  try {
    for (int client = 0; client < load.clients; ++client) threads.emplace_back(work, client);
  } catch (...) {
    clients->End();
    start.set_value(Clock::now());
    for (std::thread &thread : threads) thread.join();
    throw;
  }
  LoadResult result;
  result.started = Now();
  start.set_value(Clock::now());
  for (std::thread &thread : threads) thread.join();
  result.requests = Joined(done);
  return result;
}

class OpenLoop {
 public:
  OpenLoop(const Load &load, Clients *clients) : load_(load), clients_(clients) {}
  OpenLoop(const OpenLoop &) = delete;
  OpenLoop &operator=(const OpenLoop &) = delete;
  ~OpenLoop() {
    if (is_closed_) return;
    clients_->End();
    Close();
  }

  LoadResult Run() {
    while (static_cast<int>(threads_.size()) < load_.clients && StartClient()) {
    }
    LoadResult result;
    result.started = Now();
    start_ = Clock::now();
    for (int64_t i = 0; load_.tasks < 0 || i < load_.clients * load_.tasks; ++i) {
      const double due_ms = static_cast<double>(i) / load_.rate * 1000;
      if (!SleepUntil(due_ms)) break;
      Arrive(due_ms);
    }
    Close();
    result.requests = Joined(done_);
    return result;
  }

 private:
  // Starts one more client, if a thread can be created. Throws only for the first one.
  bool StartClient() {
    const auto client = static_cast<int>(threads_.size());
    if (client == kMaxClients) return false;
    std::vector<Request> *done = &done_.emplace_back();
    try {
      threads_.emplace_back([this, client, done] { Work(client, done); });
    } catch (const std::system_error &) {
      if (threads_.empty()) throw;
      return false;
    }
    return true;
  }

  // Returns false if the load ends before.
  bool SleepUntil(double due_ms) const {
    const auto due =
        start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(due_ms));
    while (!clients_->is_over()) {
      const Clock::time_point now = Clock::now();
      if (now >= due) return true;
      std::this_thread::sleep_until(std::min(due, now + kLongestSleep));
    }
    return false;
  }

  void Arrive(double due_ms) {
    bool is_short = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push_back(due_ms);
      is_short = waiting_.size() > idle_;
    }
    if (is_short) StartClient();
    wake_.notify_one();
  }

  void Work(int client, std::vector<Request> *done) {
    for (int64_t task = 0;; ++task) {
      double due_ms = 0;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        ++idle_;
        wake_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
        --idle_;
        if (waiting_.empty() || clients_->is_over()) return;
        due_ms = waiting_.front();
        waiting_.pop_front();
      }
      clients_->Send(start_, {client, task, due_ms}, done);
    }
  }

  void Close() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_closed_ = true;
    }
    wake_.notify_all();
    for (std::thread &thread : threads_) thread.join();
  }

  const Load &load_;
  Clients *clients_;
  Clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<double> waiting_;  // due_ms of waiting requests
  size_t idle_ = 0;
  bool is_closed_ = false;
  std::deque<std::vector<Request>> done_;  // of each client; a deque, because it grows while clients use its elements
  std::vector<std::thread> threads_;
};

}  // namespace

LoadResult RunLoad(const Load &load, const Service &service, const Observer &observer, const std::atomic<bool> &stop) {
  Clients clients(service, observer, stop);
  LoadResult result = load.rate > 0 ? OpenLoop(load, &clients).Run() : ClosedLoop(load, &clients);
  clients.Rethrow();
  return result;
}

LoadSummary SummarizeLoad(const std::vector<Request> &requests, double rate) {
  LoadSummary summary;
  std::vector<double> latencies;
  for (const Request &request : requests) {
    summary.run_ms = std::max(summary.run_ms, request.end_ms);
    summary.latest_ms = std::max(summary.latest_ms, request.sent_ms - request.due_ms);
    if (request.is_refused) {
      ++summary.refused;
    } else {
      latencies.push_back(request.latency_ms());
    }
  }
  // n requests at rate r take n / r seconds, not (n - 1) / r.
  if (rate > 0) summary.run_ms = std::max(summary.run_ms, static_cast<double>(requests.size()) / rate * 1000);
  summary.answered = static_cast<int64_t>(latencies.size());
  if (latencies.empty()) return summary;
  summary.throughput = summary.run_ms > 0 ? static_cast<double>(summary.answered) / summary.run_ms * 1000 : 0;
  summary.latency = Summarize(std::move(latencies));
  return summary;
}

}  // namespace mslite::benchmark
