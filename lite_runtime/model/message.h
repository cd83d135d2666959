// Makes the runtime's errors: a public Status with a printf-style message.
#ifndef MSLITE_MODEL_MESSAGE_H
#define MSLITE_MODEL_MESSAGE_H

#include <cstdarg>
#include <cstdio>
#include <string>

#include "include/api/status.h"
#include "model/text.h"

namespace mslite {
using mindspore::Status;

__attribute__((format(printf, 1, 2))) inline std::string Format(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

// CleanText, because a name may have been cut in the middle of a UTF-8 character.
inline Status Fail(mindspore::StatusCode code, const std::string &message) { return Status(code, CleanText(message)); }
}  // namespace mslite

// Returns a failed Status to the caller.
#define MSLITE_TRY(expression)                                        \
  do {                                                                \
    if (auto status_ = (expression); !status_.IsOk()) return status_; \
  } while (false)

#endif
