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

// What is left to say of a failed call whose reason the library has written to the standard error stream.
std::string Said(const mindspore::Status &status);

// A path without its folders.
std::string FileName(const std::string &path);

// The original's line of run times.
void PrintTimes(const std::string &model, int threads, const Statistics &milliseconds);

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PROGRAM_H_
