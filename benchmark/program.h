// Common functions of the programs `benchmark` and `benchmark_train`.
#ifndef MSLITE_BENCHMARK_PROGRAM_H_
#define MSLITE_BENCHMARK_PROGRAM_H_

#include <string>

#include "include/api/status.h"
#include "statistics.h"

namespace mslite::benchmark {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Runs `body` with valid standard files. Exceptions are converted to a message and kFailed.
int RunProgram(const char *name, int (*body)(int, char **), int argc, char **argv);

// Returns the reason of an error, or kSaid if the library has already logged it.
constexpr char kSaid[] = "said";
std::string Said(const mindspore::Status &status);

// Returns the message of an error, or the description of its code if it has no message.
std::string Reason(const mindspore::Status &status);

// Ends a run: prints the problem, if it has not been printed, and a line that begins with `what`. Returns the exit
// status.
int Finish(const std::string &problem, const std::string &what);

// Returns the file name of a path.
std::string FileName(const std::string &path);

// Prints the run times in the format of MindSpore Lite.
void PrintTimes(const std::string &model, int threads, const Statistics &milliseconds);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PROGRAM_H_
