// Messages to the standard error stream, as the environment variable GLOG_v asks: 0 debug, 1 info, 2 warning (the
// default), 3 error, 4 none.
#ifndef MSLITE_API_LOG_H
#define MSLITE_API_LOG_H

#include <exception>
#include <new>
#include <string>

#include "include/api/status.h"
#include "model/internal_api.h"

namespace mslite {
enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

MSLITE_INTERNAL_API void Log(LogLevel level, const std::string &message);

// Logs a failure on its way to the caller.
mindspore::Status Logged(mindspore::Status status);

// kLiteMemoryFailed, made when the library was loaded: reporting it needs no memory.
const mindspore::Status &OutOfMemory() noexcept;

// kLiteError with what the exception says.
mindspore::Status StatusOf(const std::exception &error) noexcept;

// kLiteError for what was thrown and is no std::exception.
mindspore::Status UnknownException() noexcept;

// Calls a function that returns a Status; what it throws becomes a Status, for nothing leaves the API as an exception.
template <typename Function>
mindspore::Status Guard(Function function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return OutOfMemory();
  } catch (const std::exception &error) {
    return StatusOf(error);
  } catch (...) {  // callbacks of the application may throw anything
    return UnknownException();
  }
}

// For what returns nothing: a failure is logged, and nothing is thrown.
template <typename Function>
void LogFailure(Function function) noexcept {
  Logged(Guard([&]() -> mindspore::Status {
    function();
    return mindspore::kSuccess;
  }));
}

// As Guard for what returns a value: a default one when there is no memory.
template <typename Function>
auto Attempt(Function function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    return decltype(function())();
  }
}
}  // namespace mslite

#endif
