#include "program.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "files.h"

namespace mslite::benchmark {

int RunProgram(const char *name, int (*body)(int, char **), int argc, char **argv) {
  try {
    OpenStandardFiles();
    std::signal(SIGXFSZ, SIG_IGN);  // writing beyond the file size limit then fails instead of ending the process
    return body(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "%s: out of memory\n", name);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
  }
  return kFailed;
}

std::string Said(const mindspore::Status &status) {
  const char *level = std::getenv("GLOG_v");
  return level != nullptr && std::string(level) == "4" ? Reason(status) : kSaid;  // 4: the library logs nothing
}

std::string Reason(const mindspore::Status &status) {
  const std::string reason = status.GetErrDescription();
  return reason.empty() ? mindspore::Status::CodeAsString(status.StatusCode()) : reason;
}

int Finish(const std::string &problem, const std::string &what) {
  const std::string lost = FlushOutput();
  if (problem.empty() && lost.empty()) return 0;
  const std::string &reason = problem.empty() ? lost : problem;
  if (reason != kSaid) std::fprintf(stderr, "%s\n", reason.c_str());
  std::fprintf(stderr, "%s Failed : -1\n", what.c_str());
  return kFailed;
}

std::string FileName(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

void PrintTimes(const std::string &model, int threads, const Statistics &milliseconds) {
  std::printf("Model = %s, NumThreads = %d, MinRunTime = %f ms, MaxRuntime = %f ms, AvgRunTime = %f ms\n",
              model.c_str(), threads, milliseconds.minimum, milliseconds.maximum, milliseconds.mean);
}

}  // namespace mslite::benchmark
