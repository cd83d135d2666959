// Requests to a service from many threads: each client sends its next one when it has its answer (closed loop), or they
// arrive at a fixed rate, whatever became of the earlier ones (open loop).
#ifndef MSLITE_BENCHMARK_LOAD_H_
#define MSLITE_BENCHMARK_LOAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "statistics.h"

namespace mslite::benchmark {

// Threads that an open loop starts at most; requests beyond that wait for one, and their latency runs.
constexpr int kMostClients = 1024;

struct Load {
  int clients = 1;    // threads; an open loop starts more when all of them wait for answers
  int64_t tasks = 1;  // requests of each client, `clients` times as many in an open loop; negative: until stopped
  double rate = 0;    // requests per second that are due, at equal distances; 0: a closed loop
};

// Times are milliseconds since the start of the load.
struct Request {
  int client = 0;
  int64_t task = 0;  // of this client
  double due_ms = 0;
  double sent_ms = 0;  // in a closed loop the same
  double end_ms = 0;
  bool is_refused = false;

  double latency_ms() const { return end_ms - due_ms; }
  double service_ms() const { return end_ms - sent_ms; }
};

enum class Answer { kServed, kRefused, kFailed };

// Sends one request and waits for its answer; called by many clients at the same time.
using Service = std::function<Answer(int client)>;

// Called on the client's thread after each request; false ends the load.
using Observer = std::function<bool(const Request &request)>;

struct LoadResult {
  double started = 0;             // seconds since 1970
  std::vector<Request> requests;  // in the order in which they were due; without those that failed
};

// Returns when the last answer is there. A failure, an observer that says so, or `stop` keeps further requests from
// being sent. Throws what the service or the observer throws, and std::system_error where the system gives no thread.
LoadResult RunLoad(const Load &load, const Service &service, const Observer &observer, const std::atomic<bool> &stop);

struct LoadSummary {
  int64_t answered = 0;
  int64_t refused = 0;
  double run_ms = 0;      // until the last answer, in an open loop at least the time that the arrivals take
  double throughput = 0;  // answered requests per second
  double latest_ms = 0;   // longest time between due and sent
  Statistics latency;     // of answered requests; zeros where there is none
};

LoadSummary SummarizeLoad(const std::vector<Request> &requests, double rate);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_LOAD_H_
