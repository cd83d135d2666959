#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "accuracy.h"
#include "include/api/model_parallel_runner.h"
#include "machine.h"
#include "program.h"

namespace mslite::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using mindspore::MSTensor;
using mindspore::Status;

constexpr double kMebibyte = 1048576;

std::atomic<bool> is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

std::string CopyOf(const std::vector<MSTensor> &tensors, std::vector<MSTensor> *copies) {
  for (const MSTensor &tensor : tensors) {
    MSTensor *copy = tensor.Clone();
    if (copy == nullptr) return "no memory for a copy of tensor '" + tensor.Name() + "'";
    copies->push_back(*copy);
    MSTensor::DestroyTensorPtr(copy);
  }
  return "";
}

bool AreBitIdentical(const MSTensor &a, const MSTensor &b) {
  return a.DataType() == b.DataType() && a.Shape() == b.Shape() && a.DataSize() == b.DataSize() &&
         std::memcmp(a.Data().get(), b.Data().get(), a.DataSize()) == 0;
}

// Returns the maximum difference of two tensors of equal shape, relative to the largest value; infinite if they cannot
// be compared.
double Deviation(const MSTensor &answer, const MSTensor &expected) {
  std::vector<float> got;
  std::vector<float> want;
  if (answer.Shape() != expected.Shape() || !AsFloats(answer, &got).empty() || !AsFloats(expected, &want).empty()) {
    return INFINITY;
  }
  double largest = 0;
  double difference = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(want[i])) return INFINITY;
    largest = std::max(largest, std::fabs(double{want[i]}));
    difference = std::max(difference, std::fabs(double{got[i]} - want[i]));
  }
  return difference == 0 ? 0 : largest == 0 ? INFINITY : difference / largest;
}

// The runner, as a service for the clients.
class Runner {
 public:
  Runner(const Flags &flags, const SingleRun &single, RunWatch *watch)
      : flags_(flags), single_(single), watch_(watch), answers_(kMaxClients) {}

  std::string Init(const std::shared_ptr<mindspore::Context> &context) {
    auto config = std::make_shared<mindspore::RunnerConfig>();
    config->SetWorkersNum(flags_.workersNum);
    config->SetContext(context);
    config->SetConfigPath(flags_.configFile);
    if (!flags_.pluginPath.empty()) config->SetConfigInfo("registry", {{"plugin_path", flags_.pluginPath}});
    const Status status = runner_.Init(flags_.modelFile, config);
    return status.IsError() ? Said(status) : "";
  }

  Answer Ask(int client) {
    std::vector<MSTensor> &outputs = answers_[static_cast<size_t>(client)];
    outputs.clear();
    const Status status = runner_.Predict(single_.inputs, &outputs);
    if (watch_ != nullptr) watch_->Tick();
    if (status.IsOk()) return Answer::kServed;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.StatusCode() == mindspore::kLiteServiceDeny) {
      if (refusal_.empty()) refusal_ = Reason(status);
      return Answer::kRefused;
    }
    if (problem_.empty()) problem_ = "Inference error: " + Reason(status);
    return Answer::kFailed;
  }

  // Returns true if the client's last answer is that of the single run. If a configuration file is used, requests may
  // be batched and sums rounded differently: then an error within the accuracy threshold is accepted.
  bool IsRight(int client) {
    const std::vector<MSTensor> &outputs = answers_[static_cast<size_t>(client)];
    double deviation = outputs.size() == single_.outputs.size() ? 0 : INFINITY;
    bool is_same = deviation == 0;
    for (size_t i = 0; is_same && i < outputs.size(); ++i) is_same = AreBitIdentical(outputs[i], single_.outputs[i]);
    if (is_same) return true;
    for (size_t i = 0; deviation == 0 && i < outputs.size(); ++i) deviation = Deviation(outputs[i], single_.outputs[i]);
    const std::lock_guard<std::mutex> lock(mutex_);
    ++other_bits_;
    if (!flags_.configFile.empty() && deviation * 100 <= flags_.accuracyThreshold) return true;
    if (problem_.empty()) {
      problem_ = "an answer of client " + std::to_string(client) + " differs from that of a single run by " +
                 std::to_string(deviation * 100) +
                 "% of the largest value (a model with variables answers differently each time)";
    }
    return false;
  }

  std::string problem() const { return problem_; }
  std::string refusal() const { return refusal_; }
  void ForgetRefusals() { refusal_.clear(); }
  int64_t other_bits() const { return other_bits_; }

 private:
  const Flags &flags_;
  const SingleRun &single_;
  RunWatch *const watch_;
  mindspore::ModelParallelRunner runner_;
  std::vector<std::vector<MSTensor>> answers_;  // the last answer of each client
  std::mutex mutex_;
  std::string problem_;
  std::string refusal_;
  int64_t other_bits_ = 0;
};

// Sends as many requests at the same time as later, so that all workers are warmed up.
std::string WarmUp(const Flags &flags, Runner *runner) {
  const auto ask = [runner](int client) { return runner->Ask(client); };
  for (int done = 0; done < flags.warmUpLoopCount && runner->problem().empty();) {
    const int clients = std::min(flags.parallelNum, flags.warmUpLoopCount - done);
    const auto tell = [done, &flags](const Request &request) {
      if (flags.quiet) return true;
      std::printf("warm up index: %d | time: %f ms%s\n", done + request.client, request.service_ms(),
                  request.is_refused ? " | refused" : "");
      return true;
    };
    RunLoad({clients, 1, 0}, ask, tell, is_interrupted);
    done += clients;
  }
  if (!flags.quiet) std::printf("=============== end warm up ===============\n");
  runner->ForgetRefusals();
  return runner->problem();
}

// The first signal ends the load, a second one ends the program.
void Interrupt(int number) {
  is_interrupted = true;
  std::signal(number, SIG_DFL);
}

}  // namespace

std::string RunReference(mindspore::Model *model, SingleRun *single) {
  std::vector<MSTensor> outputs;
  if (const Status status = model->Predict(model->GetInputs(), &outputs); status.IsError()) {
    return "Inference error: " + Reason(status);
  }
  if (const Status status = InspectPlan(*model, &single->plan); status.IsError()) return Reason(status);
  const std::string problem = CopyOf(model->GetInputs(), &single->inputs);
  return problem.empty() ? CopyOf(outputs, &single->outputs) : problem;
}

std::string MeasureParallel(const Flags &flags, const std::shared_ptr<mindspore::Context> &context,
                            const SingleRun &single, RunWatch *watch, ParallelResult *result) {
  Runner runner(flags, single, watch);
  const Clock::time_point start = Clock::now();
  std::string problem = runner.Init(context);
  result->init_ms = MillisecondsSince(start);
  if (problem.empty()) problem = WarmUp(flags, &runner);
  if (!problem.empty()) return problem;
  if (flags.parallelTaskNum < 0) {
    std::printf("Sending requests until the program is interrupted (Ctrl-C); then the results are printed.\n");
    std::signal(SIGINT, Interrupt);
    std::signal(SIGTERM, Interrupt);
  }
  const auto observe = [&runner, &flags](const Request &request) {
    if (!flags.quiet) {
      std::printf("parallel index: %d | task index: %lld | predict time: %f ms%s\n", request.client,
                  static_cast<long long>(request.task), request.service_ms(), request.is_refused ? " | refused" : "");
    }
    return request.is_refused || runner.IsRight(request.client);
  };
  const Load load = {flags.parallelNum, flags.parallelTaskNum, flags.requestRate};
  result->load = RunLoad(
      load, [&runner](int client) { return runner.Ask(client); }, observe, is_interrupted);
  if (!runner.problem().empty()) return runner.problem();
  result->summary = SummarizeLoad(result->load.requests, flags.requestRate);
  result->refusal = runner.refusal();
  result->other_bits = runner.other_bits();
  if (result->summary.answered == 0) {
    return result->refusal.empty() ? "no request was sent"
                                   : "every request was refused: " + result->refusal +
                                         "; increase --workersNum, or reduce --parallelNum or --requestRate";
  }
  return "";
}

void PrintParallel(const ParallelResult &result) {
  const LoadSummary &summary = result.summary;
  const Statistics &latency = summary.latency;
  std::printf("=================================================\n");
  std::printf("parallel predict init time: %f ms\nparallel predict all run time: %f ms\n", result.init_ms,
              summary.run_ms);
  std::printf("=================================================\n");
  std::printf("Model = %s, NumThreads = %d, WorkersNum = %d, ParallelNum = %d\n", result.model.c_str(), result.threads,
              result.workers, result.clients);
  std::printf("Requests: %lld answered, %lld refused%s%s\n", static_cast<long long>(summary.answered),
              static_cast<long long>(summary.refused),
              result.refusal.empty() ? "" : "; the first: ", result.refusal.c_str());
  std::printf("Latency: p50 %.3f ms, p90 %.3f, p99 %.3f, max %.3f\n", latency.median, latency.p90, latency.p99,
              latency.maximum);
  std::printf("Throughput: %.1f requests/s", summary.throughput);
  if (result.request_rate > 0) {
    std::printf(" at a request rate of %.1f; maximum delay of sending %.3f ms", result.request_rate, summary.latest_ms);
  }
  std::printf("\nAnswers: %lld bit-identical to a single run",
              static_cast<long long>(summary.answered - result.other_bits));
  if (result.other_bits > 0) {
    std::printf(", %lld within the accuracy threshold", static_cast<long long>(result.other_bits));
  }
  std::printf("\n");
  std::printf("Memory: peak %.1f MiB; activations %.2f MiB for each worker, packed weights %.2f MiB for all\n",
              static_cast<double>(result.peak_memory) / kMebibyte,
              static_cast<double>(result.plan.arena_bytes) / kMebibyte,
              static_cast<double>(result.plan.packed_bytes) / kMebibyte);
  std::printf("Machine: %s, %d available cores, instruction set %s\n", ProcessorName().c_str(), UsableCores(),
              result.plan.isa.c_str());
}

}  // namespace mslite::benchmark
