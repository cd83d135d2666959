#include "openvino/openvino_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <vector>

#include "model/message.h"

namespace mslite {
namespace {
constexpr const char *kName = "libopenvino_c.so";
// Folders that are searched after those of LD_LIBRARY_PATH.
constexpr const char *kFolders[] = {
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/opt/intel/openvino/runtime/lib/intel64",
};
constexpr const char *kRemedy =
    "install OpenVINO (pip install openvino) and name its folder or its libopenvino_c.so in MSLITE_OPENVINO_LIBRARY";

std::mutex opening;
OpenVinoLibrary loaded;
bool is_loaded = false;

// Returns the path of the C library in a folder or in its subfolder libs, which the Python package uses; "" if there is
// none. File names end with a version, such as libopenvino_c.so.2520; the highest version is returned.
std::string FindIn(const std::filesystem::path &folder) {
  std::error_code error;
  std::string found;
  for (const std::filesystem::path &place : {folder, folder / "libs"}) {
    for (const auto &entry : std::filesystem::directory_iterator(place, error)) {
      const std::string path = entry.path().string();
      if (entry.path().filename().string().rfind(kName, 0) == 0) found = std::max(found, path);
    }
    if (!found.empty()) break;
  }
  return found;
}

Status OpenNamed(const std::string &named, void **handle) {
  std::error_code error;
  std::string path = named;
  if (std::filesystem::is_directory(named, error)) {
    path = FindIn(named);
    if (path.empty()) {
      return Fail(mindspore::kLiteNotSupport, "OpenVINO: MSLITE_OPENVINO_LIBRARY names '" + named +
                                                  "', but there is no " + kName + " in it or in its folder libs");
    }
  }
  *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (*handle != nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport,
              "OpenVINO: MSLITE_OPENVINO_LIBRARY names '" + named + "', which cannot be loaded: " + dlerror());
}

Status OpenInstalled(void **handle) {
  *handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  std::vector<std::string> folders;
  if (const char *listed = std::getenv("LD_LIBRARY_PATH"); listed != nullptr) {
    std::istringstream list(listed);
    for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder);
  }
  folders.insert(folders.end(), std::begin(kFolders), std::end(kFolders));
  std::string places;
  for (const std::string &folder : folders) {
    if (*handle != nullptr) return mindspore::kSuccess;
    const std::string path = FindIn(folder);
    if (!path.empty()) *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    places += ", " + folder;
  }
  if (*handle != nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport, std::string("OpenVINO: no ") + kName +
                                              " found in the library path of the system" + places + "; " + kRemedy);
}

Status Load(OpenVinoLibrary *library) {
  void *handle = nullptr;
  const char *named = std::getenv("MSLITE_OPENVINO_LIBRARY");
  MSLITE_TRY(named != nullptr ? OpenNamed(named, &handle) : OpenInstalled(&handle));
  const char *missing = nullptr;
#define MSLITE_LOAD(result, name, parameters)                                      \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(handle, #name)); \
  if (library->name == nullptr) missing = #name;
  MSLITE_OPENVINO_FUNCTIONS(MSLITE_LOAD)
#undef MSLITE_LOAD
  if (missing == nullptr) return mindspore::kSuccess;
  dlclose(handle);
  return Fail(mindspore::kLiteNotSupport,
              std::string("OpenVINO: the library is too old or not the right one: it does not have ") + missing + "; " +
                  kRemedy);
}
}  // namespace

Status OpenVinoLibrary::Open(const OpenVinoLibrary **library) {
  // A failure is not cached: the next model tries again.
  const std::lock_guard<std::mutex> lock(opening);
  if (!is_loaded) MSLITE_TRY(Load(&loaded));
  is_loaded = true;
  *library = &loaded;
  return mindspore::kSuccess;
}

Status OpenVinoLibrary::Check(int status, const char *function) const {
  if (status == 0) return mindspore::kSuccess;
  std::string reason = ov_get_error_info(status);
  // The message of the exception; it may have several lines.
  if (const char *message = ov_get_last_err_msg(); message != nullptr) {
    if (*message != '\0') reason += std::string(": ") + message;
    ov_free(message);
  }
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  while (!reason.empty() && reason.back() == ' ') reason.pop_back();
  return Fail(mindspore::kLiteError, std::string(function) + ": " + reason);
}
}  // namespace mslite
