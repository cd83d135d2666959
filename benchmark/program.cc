#include "program.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "files.h"

namespace mslite::benchmark {

int RunProgram(const char *name, int (*body)(int, char **), int argc, char **argv) {
  try {
    OpenStandardFiles();
    std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond its limit is a failed write
    return body(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "%s: there is not enough memory\n", name);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
  }
  return kFailed;
}

std::string Said(const mindspore::Status &status) { return mindspore::Status::CodeAsString(status.StatusCode()); }

std::string FileName(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

void PrintTimes(const std::string &model, int threads, const Statistics &milliseconds) {
  std::printf("Model = %s, NumThreads = %d, MinRunTime = %f ms, MaxRuntime = %f ms, AvgRunTime = %f ms\n",
              model.c_str(), threads, milliseconds.minimum, milliseconds.maximum, milliseconds.mean);
}

}  // namespace mslite::benchmark
