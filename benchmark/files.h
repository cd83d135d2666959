// Atomic writing of files, and checks of standard output.
#ifndef MSLITE_BENCHMARK_FILES_H_
#define MSLITE_BENCHMARK_FILES_H_

#include <string>

namespace mslite::benchmark {

// Writes a file with a random name in the same folder and renames it to `path`. If `path` is a device or a pipe, writes
// to it directly. Returns an error message, or ""; on failure `path` does not change.
std::string WriteFile(const std::string &path, const std::string &text);

// Opens /dev/null for missing standard files. Otherwise the next opened file would be used as a standard file.
void OpenStandardFiles();

// Flushes standard output. Returns an error message if this write or an earlier one failed, or "".
std::string FlushOutput();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_FILES_H_
