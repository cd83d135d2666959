// Plug-ins: shared libraries with kernels, which are registered when the library is loaded. mslite extension.
#ifndef MSLITE_INCLUDE_MSLITE_PLUGIN_H_
#define MSLITE_INCLUDE_MSLITE_PLUGIN_H_

#include <string>

#include "include/api/status.h"

namespace mslite {

// Loads a plug-in. Models that are built later can use its kernels. The plug-in stays loaded; loading it again has no
// effect. `plugin_path=a.so;b.so` in section [registry] of the file of Model::LoadConfig loads plug-ins too.
// Errors: kLiteFileError with the path and the reason of the linker (missing file, not a shared library, undefined
// symbol).
MS_API mindspore::Status LoadPlugin(const std::string &path);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_PLUGIN_H_
