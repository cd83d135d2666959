// Loading of a backend's library at run time.
#ifndef MSLITE_DELEGATE_ENGINE_SHARED_LIBRARY_H
#define MSLITE_DELEGATE_ENGINE_SHARED_LIBRARY_H

#include <string>
#include <vector>

#include "include/api/status.h"

namespace mslite {
struct SharedLibrary {
  const char *engine;               // name of the backend in messages
  const char *variable;             // environment variable with the path of the library
  const char *named;                // value of the variable, or null
  std::vector<const char *> names;  // file names of the library, preferred ones first
  const char *remedy;
};

// Loads the library. Errors: kLiteNotSupport, with the file names that were tried.
mindspore::Status OpenShared(const SharedLibrary &library, void **handle);
}  // namespace mslite

#endif
