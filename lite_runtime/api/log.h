// Logging to standard error. The environment variable GLOG_v sets the lowest level that is logged: 0 debug, 1 info,
// 2 warning (the default), 3 error, 4 none.
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

// Logs the status if it is an error, and returns it.
mindspore::Status Logged(mindspore::Status status);

// Returns kLiteMemoryFailed. The status is created when the library is loaded, so this allocates no memory.
const mindspore::Status &OutOfMemory() noexcept;

// Returns kLiteError with the message of an exception.
mindspore::Status StatusOf(const std::exception &error) noexcept;

// Returns kLiteError for an exception that is not a std::exception.
mindspore::Status UnknownException() noexcept;

// Calls a function that returns a Status. Exceptions are converted to a Status, because the API does not throw.
template <typename Function>
mindspore::Status Guard(Function function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return OutOfMemory();
  } catch (const std::exception &error) {
    return StatusOf(error);
  } catch (...) {  // callbacks of the application may throw other types
    return UnknownException();
  }
}

// Calls a function without a result. Exceptions are logged.
template <typename Function>
void LogFailure(Function function) noexcept {
  Logged(Guard([&]() -> mindspore::Status {
    function();
    return mindspore::kSuccess;
  }));
}

// Calls a function that returns a value. Returns a default value if it throws.
template <typename Function>
auto CallOrDefault(Function function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    return decltype(function())();
  }
}
}  // namespace mslite

#endif
