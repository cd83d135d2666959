// Plug-ins: shared objects whose kernels register themselves when they are loaded. Beyond MindSpore Lite's API.
#ifndef MSLITE_INCLUDE_MSLITE_PLUGIN_H_
#define MSLITE_INCLUDE_MSLITE_PLUGIN_H_

#include <string>

#include "include/api/status.h"

namespace mslite {

// Loads a plug-in, which stays loaded. Models built afterwards find its kernels. A file that is loaded already is left
// alone. The same happens for each path of `plugin_path=a.so;b.so` in section [registry] of Model::LoadConfig.
// Errors: kLiteFileError with the path and the linker's reason (no such file, no shared object, an undefined symbol).
MS_API mindspore::Status LoadPlugin(const std::string &path);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_PLUGIN_H_
