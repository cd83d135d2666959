// Loads of requests: what is sent when, what counts as latency, and the figures of small known samples.
#include "load.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace mslite::benchmark {
namespace {

using std::chrono::milliseconds;

const std::atomic<bool> kNeverStopped{false};
const Observer kGoOn = [](const Request &) { return true; };
const Service kServe = [](int) { return Answer::kServed; };

Request Answered(double due_ms, double sent_ms, double end_ms) { return {0, 0, due_ms, sent_ms, end_ms, false}; }

TEST(Quantiles, OfOneToHundred) {
  std::vector<Request> requests;
  for (int i = 100; i >= 1; --i) requests.push_back(Answered(1000 - i, 1000 - i, 1000));
  const LoadSummary summary = SummarizeLoad(requests, 0);
  EXPECT_DOUBLE_EQ(summary.latency.minimum, 1);
  EXPECT_DOUBLE_EQ(summary.latency.median, 50.5);
  EXPECT_DOUBLE_EQ(summary.latency.p90, 90.1);
  EXPECT_DOUBLE_EQ(summary.latency.p99, 99.01);
  EXPECT_DOUBLE_EQ(summary.latency.maximum, 100);
  EXPECT_DOUBLE_EQ(summary.latency.mean, 50.5);
  EXPECT_DOUBLE_EQ(summary.run_ms, 1000);
  EXPECT_DOUBLE_EQ(summary.throughput, 100);
}

TEST(Quantiles, OfOne) {
  const LoadSummary summary = SummarizeLoad({Answered(0, 3, 7)}, 0);
  for (const double value :
       {summary.latency.median, summary.latency.p90, summary.latency.p99, summary.latency.maximum}) {
    EXPECT_DOUBLE_EQ(value, 7) << "from the moment at which it was due";
  }
  EXPECT_DOUBLE_EQ(summary.latest_ms, 3);
}

TEST(Summary, KeepsRefusedRequestsApart) {
  Request refused = Answered(10, 10, 90000);
  refused.is_refused = true;
  const LoadSummary summary = SummarizeLoad({Answered(0, 0, 5), refused, Answered(20, 20, 25)}, 0);
  EXPECT_EQ(summary.answered, 2);
  EXPECT_EQ(summary.refused, 1);
  EXPECT_DOUBLE_EQ(summary.latency.maximum, 5);
  const LoadSummary none = SummarizeLoad({refused}, 0);
  EXPECT_EQ(none.answered, 0);
  EXPECT_DOUBLE_EQ(none.throughput, 0);
  EXPECT_DOUBLE_EQ(SummarizeLoad({}, 0).run_ms, 0);
}

TEST(Summary, GivesTheLastArrivalItsTime) {
  const LoadSummary summary = SummarizeLoad({Answered(0, 0, 1), Answered(100, 100, 101)}, 10);
  EXPECT_DOUBLE_EQ(summary.run_ms, 200);
  EXPECT_DOUBLE_EQ(summary.throughput, 10);
  EXPECT_DOUBLE_EQ(SummarizeLoad({Answered(0, 0, 1), Answered(100, 150, 400)}, 10).run_ms, 400);
}

TEST(ClosedLoop, SendsTheNextRequestAfterTheAnswer) {
  std::atomic<int> in_flight{0};
  std::atomic<int> most{0};
  const Service service = [&](int) {
    const int now = ++in_flight;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(milliseconds(1));
    --in_flight;
    return Answer::kServed;
  };
  const std::vector<Request> requests = RunLoad({3, 20, 0}, service, kGoOn, kNeverStopped).requests;
  ASSERT_EQ(requests.size(), 60u);
  EXPECT_LE(most.load(), 3);
  std::map<int, std::vector<Request>> of_clients;
  for (const Request &request : requests) {
    EXPECT_EQ(request.due_ms, request.sent_ms);
    EXPECT_GE(request.latency_ms(), 1);
    of_clients[request.client].push_back(request);
  }
  ASSERT_EQ(of_clients.size(), 3u);
  for (const auto &[client, sent] : of_clients) {
    for (size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(sent[i].task, static_cast<int64_t>(i)) << "client " << client;
      EXPECT_GE(sent[i].sent_ms, i == 0 ? 0 : sent[i - 1].end_ms);
    }
  }
}

// A service that answers nobody before all have come: only a load that waits for no answer ends well.
TEST(OpenLoop, DoesNotWaitForAnswers) {
  constexpr int kRequests = 12;
  std::mutex mutex;
  std::condition_variable wake;
  int come = 0;
  const Service service = [&](int) {
    std::unique_lock<std::mutex> lock(mutex);
    ++come;
    wake.notify_all();
    const bool is_full = wake.wait_for(lock, std::chrono::seconds(30), [&] { return come == kRequests; });
    return is_full ? Answer::kServed : Answer::kFailed;
  };
  const std::vector<Request> requests = RunLoad({1, kRequests, 500}, service, kGoOn, kNeverStopped).requests;
  ASSERT_EQ(requests.size(), static_cast<size_t>(kRequests));
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_DOUBLE_EQ(requests[i].due_ms, static_cast<double>(i) / 500 * 1000);
    EXPECT_GE(requests[i].sent_ms, requests[i].due_ms);
    EXPECT_DOUBLE_EQ(requests[i].latency_ms(), requests[i].end_ms - requests[i].due_ms);
    EXPECT_GE(requests[i].end_ms, requests.back().sent_ms);
  }
}

TEST(OpenLoop, HasTheRateThatWasAskedFor) {
  const LoadResult result = RunLoad({2, 10, 100}, kServe, kGoOn, kNeverStopped);
  const LoadSummary summary = SummarizeLoad(result.requests, 100);
  EXPECT_EQ(summary.answered, 20);
  EXPECT_GE(summary.run_ms, 200);
  EXPECT_LE(summary.throughput, 100);
}

class Ends : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Rates, Ends, ::testing::Values(0.0, 2000.0));

TEST_P(Ends, WhenARequestFails) {
  std::atomic<int> sent{0};
  const Service service = [&](int) { return ++sent < 3 ? Answer::kServed : Answer::kFailed; };
  EXPECT_EQ(RunLoad({1, -1, GetParam()}, service, kGoOn, kNeverStopped).requests.size(), 2u);
}

TEST_P(Ends, WhenTheObserverSaysSo) {
  std::atomic<int> seen{0};
  const Observer observer = [&](const Request &) { return ++seen < 5; };
  EXPECT_GE(RunLoad({2, -1, GetParam()}, kServe, observer, kNeverStopped).requests.size(), 5u);
}

TEST_P(Ends, WhenStopped) {
  std::atomic<bool> stop{false};
  std::atomic<int> sent{0};
  const Service refuse = [&](int) {
    if (++sent == 10) stop = true;
    return Answer::kRefused;
  };
  const std::vector<Request> requests = RunLoad({2, -1, GetParam()}, refuse, kGoOn, stop).requests;
  EXPECT_GE(requests.size(), 10u);
  for (const Request &request : requests) EXPECT_TRUE(request.is_refused);
}

TEST_P(Ends, WithWhatAClientThrows) {
  std::atomic<int> sent{0};
  const Service service = [&](int) {
    if (++sent == 5) throw std::bad_alloc();
    return Answer::kServed;
  };
  EXPECT_THROW(RunLoad({2, -1, GetParam()}, service, kGoOn, kNeverStopped), std::bad_alloc);
}

}  // namespace
}  // namespace mslite::benchmark
