// Files that appear whole or not at all, and the program's standard output.
#ifndef MSLITE_BENCHMARK_FILES_H_
#define MSLITE_BENCHMARK_FILES_H_

#include <string>

namespace mslite::benchmark {

// Writes a file beside `path`, under a name that nobody can guess, and renames it; what is no ordinary file (a device,
// a pipe) is written to where it is. Empty on success, else what went wrong; then `path` is as it was.
std::string WriteFile(const std::string &path, const std::string &text);

// Opens empty standard files where the program was started without, or a file opened later would take their place.
void OpenStandardFiles();

// Writes what is held back of standard output. Empty on success, else what went wrong with it, now or earlier.
std::string FlushOutput();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_FILES_H_
