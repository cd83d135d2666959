// Calls of code that applications provide.
#ifndef MSLITE_REGISTRY_APPLICATION_CALL_H
#define MSLITE_REGISTRY_APPLICATION_CALL_H

#include <exception>
#include <string>

#include "model/message.h"

namespace mslite {
inline const char *Named(const char *what) { return what == nullptr ? "a backend" : what; }

// Calls a function of the application and converts exceptions and error codes to a Status that names the function. For
// a backend of mslite (`what` is null), its own error message is used.
template <typename Function>
Status CallApplicationCode(const char *what, Function function) {
  try {
    const Status status = function();
    if (status.IsOk()) return status;
    const std::string own = status.GetErrDescription();
    if (what == nullptr && !own.empty()) return status;
    const auto number = static_cast<int32_t>(static_cast<uint32_t>(status.StatusCode()) << 4) >> 4;
    return Fail(status.StatusCode(), std::string(Named(what)) + " failed with " + std::to_string(number) + " (" +
                                         (own.empty() ? Status::CodeAsString(status.StatusCode()) : own) + ")");
  } catch (const std::exception &error) {
    return Fail(mindspore::kLiteError, std::string(Named(what)) + " threw an exception: " + error.what());
  } catch (...) {
    return Fail(mindspore::kLiteError, std::string(Named(what)) + " threw an exception");
  }
}
}  // namespace mslite

#endif
