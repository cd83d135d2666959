#include "engine/shared_library.h"

#include <dlfcn.h>

#include "model/message.h"

namespace mslite {
mindspore::Status OpenShared(const SharedLibrary &library, void **handle) {
  const std::string engine = library.engine;
  if (library.named != nullptr) {
    *handle = dlopen(library.named, RTLD_NOW | RTLD_LOCAL);
    if (*handle != nullptr) return mindspore::kSuccess;
    return Fail(mindspore::kLiteNotSupport, engine + ": " + library.variable + " names '" + library.named +
                                                "', which cannot be loaded: " + dlerror());
  }
  std::string tried;
  for (const char *name : library.names) {
    *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*handle != nullptr) return mindspore::kSuccess;
    tried += (tried.empty() ? "" : " nor ") + std::string(name);
  }
  return Fail(mindspore::kLiteNotSupport, engine + ": no " + tried + " found on this system; " + library.remedy +
                                              ", or set " + library.variable + " to the path of the library");
}
}  // namespace mslite
