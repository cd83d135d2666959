// --enableParallelPredict: parallel requests to a ModelParallelRunner. Each answer is compared with that of a single
// run.
#ifndef MSLITE_BENCHMARK_PARALLEL_H_
#define MSLITE_BENCHMARK_PARALLEL_H_

#include <memory>
#include <string>
#include <vector>

#include "flags.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "load.h"
#include "result.h"
#include "run_watch.h"

namespace mslite::benchmark {

// Copies of the inputs and outputs of one run of the model.
struct SingleRun {
  std::vector<mindspore::MSTensor> inputs;
  std::vector<mindspore::MSTensor> outputs;
  PlanInfo plan;
};

// Runs the model once with its input tensors. Returns an error message, or "".
std::string RunReference(mindspore::Model *model, SingleRun *single);

struct ParallelResult {
  std::string model;
  int threads = 0;  // of each worker
  int workers = 0;
  int clients = 0;
  double request_rate = 0;  // requests per second; 0: each client waited for its answers
  double init_ms = 0;
  LoadResult load;
  LoadSummary summary;
  std::string refusal;     // why the first refused request was refused
  int64_t other_bits = 0;  // answers that are not bit-identical to the single run
  int64_t peak_memory = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  PlanInfo plan;  // of one worker
};

// Builds the runner, warms it up and sends the requests. `watch` may be null. Returns an error message, or "".
std::string MeasureParallel(const Flags &flags, const std::shared_ptr<mindspore::Context> &context,
                            const SingleRun &single, RunWatch *watch, ParallelResult *result);

// Prints the results, after the lines that MindSpore Lite prints.
void PrintParallel(const ParallelResult &result);

// Write --jsonFile and --htmlFile. Return an error message, or "".
std::string WriteParallelJson(const ParallelResult &result, const std::string &path);
std::string WriteParallelHtml(const ParallelResult &result, const Origin &origin, const std::string &path);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PARALLEL_H_
