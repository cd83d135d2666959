// Load generator with many threads. Closed loop: each client sends its next request after an answer. Open loop:
// requests are sent at a fixed rate, without waiting for answers.
#ifndef MSLITE_BENCHMARK_LOAD_H_
#define MSLITE_BENCHMARK_LOAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "statistics.h"

namespace mslite::benchmark {

// Maximum number of threads of an open loop. Further requests wait for a thread, which is part of their latency.
constexpr int kMaxClients = 1024;

struct Load {
  int clients = 1;    // threads; an open loop starts more if all of them wait for answers
  int64_t tasks = 1;  // requests of each client; an open loop sends clients * tasks requests; negative: until stopped
  double rate = 0;    // requests per second, at equal intervals; 0: a closed loop
};

// Times are milliseconds since the start of the load.
struct Request {
  int client = 0;
  int64_t task = 0;  // of this client
  double due_ms = 0;
  double sent_ms = 0;  // equal to due_ms in a closed loop
  double end_ms = 0;
  bool is_refused = false;

  double latency_ms() const { return end_ms - due_ms; }
  double service_ms() const { return end_ms - sent_ms; }
};

enum class Answer { kServed, kRefused, kFailed };

// Sends one request and waits for its answer. Called by several threads at the same time.
using Service = std::function<Answer(int client)>;

// Called on the client's thread after each request. If it returns false, the load ends.
using Observer = std::function<bool(const Request &request)>;

struct LoadResult {
  double started = 0;             // seconds since 1970
  std::vector<Request> requests;  // in the order of due_ms, without failed requests
};

// Sends requests and returns after the last answer. A failed request, an observer that returns false, or `stop` ends
// the load. Throws the exceptions of the service and the observer, and std::system_error if no thread can be created.
LoadResult RunLoad(const Load &load, const Service &service, const Observer &observer, const std::atomic<bool> &stop);

struct LoadSummary {
  int64_t answered = 0;
  int64_t refused = 0;
  double run_ms = 0;      // until the last answer; in an open loop at least requests / rate
  double throughput = 0;  // answered requests per second
  double latest_ms = 0;   // maximum of sent_ms - due_ms
  Statistics latency;     // of answered requests; 0 if there are none
};

LoadSummary SummarizeLoad(const std::vector<Request> &requests, double rate);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_LOAD_H_
