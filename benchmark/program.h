// What the programs of this folder have in common.
#ifndef MSLITE_BENCHMARK_PROGRAM_H_
#define MSLITE_BENCHMARK_PROGRAM_H_

#include <string>

#include "include/api/status.h"
#include "statistics.h"

namespace mslite::benchmark {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Runs `body` with sound standard files; exceptions become a message and kFailed.
int RunProgram(const char *name, int (*body)(int, char **), int argc, char **argv);

// A failed call's reason, or kSaid where the library has written it to the standard error stream.
constexpr char kSaid[] = "said";
std::string Said(const mindspore::Status &status);

// A failed call's reason, without the name of its code where there is more to say.
std::string Reason(const mindspore::Status &status);

// Ends a run: its problem, if any and not said before, and a line for scripts that begins with `what`. The exit status.
int Finish(const std::string &problem, const std::string &what);

// A path without its folders.
std::string FileName(const std::string &path);

// The original's line of run times.
void PrintTimes(const std::string &model, int threads, const Statistics &milliseconds);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PROGRAM_H_
