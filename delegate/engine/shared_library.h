// Opening an engine's library when it is asked for.
#ifndef MSLITE_DELEGATE_ENGINE_SHARED_LIBRARY_H
#define MSLITE_DELEGATE_ENGINE_SHARED_LIBRARY_H

#include <string>
#include <vector>

#include "include/api/status.h"

namespace mslite {
struct SharedLibrary {
  const char *engine;               // as messages name it
  const char *variable;             // of the environment
  const char *named;                // the file that it names, or null
  std::vector<const char *> names;  // where systems have it, the best first
  const char *remedy;
};

// Errors: kLiteNotSupport, with what was looked for.
mindspore::Status OpenShared(const SharedLibrary &library, void **handle);
}  // namespace mslite

#endif
