// --enableParallelPredict: many requests at once to a ModelParallelRunner. Each answer is compared with that of a
// single run.
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

// Inputs, and what one run of the model makes of them; copies, so that the model can go.
struct SingleRun {
  std::vector<mindspore::MSTensor> inputs;
  std::vector<mindspore::MSTensor> outputs;
  PlanInfo plan;
};

// Runs the model once on the contents of its inputs. Returns what went wrong, or "".
std::string RunSingle(mindspore::Model *model, SingleRun *single);

struct ParallelResult {
  std::string model;
  int threads = 0;  // of each worker
  int workers = 0;
  int clients = 0;
  double request_rate = 0;  // requests per second that arrived; 0: each client waited for its answers
  double init_ms = 0;
  LoadResult load;
  LoadSummary summary;
  std::string refusal;     // why the first refused request was
  int64_t other_bits = 0;  // answers whose bits are not those of the single run
  int64_t peak_memory = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  PlanInfo plan;  // of one worker
};

// Builds the runner, warms it up, sends the requests. `watch` (or null) is told of each answer. Returns what went
// wrong, or "".
std::string MeasureParallel(const Flags &flags, const std::shared_ptr<mindspore::Context> &context,
                            const SingleRun &single, RunWatch *watch, ParallelResult *result);

// The figures, after the original's lines.
void PrintParallel(const ParallelResult &result);

// --jsonFile and --htmlFile. Return what went wrong, or "".
std::string WriteParallelJson(const ParallelResult &result, const std::string &path);
std::string WriteParallelHtml(const ParallelResult &result, const Origin &origin, const std::string &path);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PARALLEL_H_
