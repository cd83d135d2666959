// The results of one run of `benchmark`, which are printed and written as JSON and HTML.
#ifndef MSLITE_BENCHMARK_RESULT_H_
#define MSLITE_BENCHMARK_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "flags.h"
#include "include/mslite/inspect.h"
#include "profile.h"
#include "statistics.h"

namespace mslite::benchmark {

struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape;
  int type = 0;
  uint32_t crc = 0;  // CRC-32 of the bytes (outputs only)
};

// The origin of an HTML report.
struct Origin {
  std::string command;  // command line, quoted for a shell
  std::string file;     // path of the model
  int64_t bytes = 0;
  std::string sha256;  // of the model's file
};

struct Result {
  std::string model;
  int threads = 0;
  double prepare_ms = 0;
  double first_run_ms = 0;
  std::vector<double> runs_ms;
  Statistics statistics;
  int64_t peak_memory = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<OperatorTime> operators;
  PlanInfo plan;
  PlacementInfo placement;
  double peak_gflops = 0;  // of one core, measured
  int profiled_loops = 0;
};

// CRC-32 (IEEE 802.3, as in zlib).
uint32_t Crc32(const void *data, size_t size);

// Writes --jsonFile. Returns an error message, or "".
std::string WriteJson(const Result &result, const std::string &path);

// Returns the command line, quoted for a shell.
std::string CommandLine(int count, const char *const *words);

// Writes --htmlFile, a self-contained page. Returns an error message, or "".
std::string WriteHtml(const Result &result, const Origin &origin, const std::string &path);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_RESULT_H_
