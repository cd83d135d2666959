#include "machine.h"

#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace mslite::benchmark {
namespace {

// Returns the text after the colon in the first line of `path` that begins with `key`.
std::string ValueOf(const char *path, const std::string &key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t colon = line.find(':');
    const size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// Returns a value of /proc/self/status (KiB) in bytes.
int64_t BytesOf(const std::string &key) {
  std::istringstream text(ValueOf("/proc/self/status", key));
  int64_t kilobytes = 0;
  text >> kilobytes;
  return kilobytes * 1024;
}

}  // namespace

int64_t PeakMemory() { return BytesOf("VmHWM"); }

int64_t ResidentMemory() { return BytesOf("VmRSS"); }

int UsableCores() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::string ProcessorName() {
  const std::string name = ValueOf("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown processor" : name;
}

}  // namespace mslite::benchmark
