#include "api/log.h"

#include <cstdio>
#include <cstdlib>

namespace mslite {
namespace {
int Threshold() {
  const char *text = std::getenv("GLOG_v");
  if (text == nullptr || text[0] < '0' || text[0] > '4' || text[1] != '\0') return static_cast<int>(LogLevel::kWarning);
  return text[0] - '0';
}

const int kThreshold = Threshold();
const mindspore::Status kOutOfMemory(mindspore::kLiteMemoryFailed, "out of memory");
}  // namespace

const mindspore::Status &OutOfMemory() noexcept { return kOutOfMemory; }

mindspore::Status StatusOf(const std::exception &error) noexcept {
  return Guard([&] { return mindspore::Status(mindspore::kLiteError, error.what()); });
}

mindspore::Status UnknownException() noexcept {
  return Guard(
      [] { return mindspore::Status(mindspore::kLiteError, "an exception was thrown that is not a std::exception"); });
}

void Log(LogLevel level, const std::string &message) {
  static constexpr const char *kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  if (static_cast<int>(level) < kThreshold) return;
  std::fprintf(stderr, "[%s] mslite: %s\n", kNames[static_cast<int>(level)], message.c_str());
}

mindspore::Status Logged(mindspore::Status status) {
  if (status.IsError()) CallOrDefault([&] { return Log(LogLevel::kError, status.GetErrDescription()); });
  return status;
}
}  // namespace mslite
