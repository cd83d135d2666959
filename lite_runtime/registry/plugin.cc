#include "include/mslite/plugin.h"

#include <dlfcn.h>

#include <mutex>

#include "api/log.h"
#include "model/message.h"
#include "model/shared_object.h"
#include "registry/registry.h"
#include "threads/process_mutex.h"

namespace mslite {
mindspore::Status LoadPlugin(const std::string &path) {
  return Guard([&]() -> Status {
    const std::lock_guard<std::mutex> lock(ProcessMutex(LockId::kPlugins));
    // Without a slash, the linker would search in the folders of libraries.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    const size_t before = RegistrationCount();
    if (void *loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); loaded != nullptr) {
      dlclose(loaded);  // already loaded; it stays loaded
      return mindspore::kSuccess;
    }
    if (IsTruncatedElf(file))
      return Fail(mindspore::kLiteFileError, "plug-in '" + path + "' is truncated; copy it again");
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char *reason = dlerror();
      return Fail(mindspore::kLiteFileError,
                  "plug-in '" + path + "' cannot be loaded: " + (reason == nullptr ? "unknown reason" : reason));
    }
    if (RegistrationCount() == before) {
      Log(LogLevel::kWarning, "plug-in '" + path + "' registers no new kernels");
    }
    return mindspore::kSuccess;
  });
}
}  // namespace mslite
