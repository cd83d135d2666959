#include "nnrt/nnrt_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <iterator>
#include <mutex>

#include "engine/shared_library.h"
#include "model/message.h"

namespace mslite {
namespace {
std::mutex opening;
NnrtLibrary loaded;
bool is_loaded = false;

mindspore::Status Load(NnrtLibrary *library) {
  void *handle = nullptr;
  // This library loads libneural_network_core.so, which has the compilations and executors.
  MSLITE_TRY(OpenShared({"NNRT",
                         "MSLITE_NNRT_LIBRARY",
                         std::getenv("MSLITE_NNRT_LIBRARY"),
                         {"libneural_network_runtime.so"},
                         "OpenHarmony has it since API level 11"},
                        &handle));
  const char *missing = nullptr;
#define MSLITE_LOAD(result, name, parameters)                                              \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(handle, "OH_NN" #name)); \
  if (library->name == nullptr) missing = "OH_NN" #name;
  MSLITE_NNRT_FUNCTIONS(MSLITE_LOAD)
#undef MSLITE_LOAD
  if (missing == nullptr) return mindspore::kSuccess;
  dlclose(handle);
  return Fail(mindspore::kLiteNotSupport,
              std::string("NNRT: the library is too old or not the right one: it does not have ") + missing +
                  "; OpenHarmony's API level 11 is needed");
}

const char *ResultName(int result) {
  constexpr const char *kNames[] = {"SUCCESS",
                                    "FAILED",
                                    "INVALID_PARAMETER",
                                    "MEMORY_ERROR",
                                    "OPERATION_FORBIDDEN",
                                    "NULL_PTR",
                                    "INVALID_FILE",
                                    "UNAVALIDABLE_DEVICE",
                                    "INVALID_PATH",
                                    "TIMEOUT",
                                    "UNSUPPORTED",
                                    "CONNECTION_EXCEPTION",
                                    "SAVE_CACHE_EXCEPTION",
                                    "DYNAMIC_SHAPE",
                                    "UNAVAILABLE_DEVICE"};
  return result >= 0 && result < static_cast<int>(std::size(kNames)) ? kNames[result] : "unknown";
}
}  // namespace

mindspore::Status NnrtLibrary::Open(const NnrtLibrary **library) {
  // A failure is not cached: the next model tries again.
  const std::lock_guard<std::mutex> lock(opening);
  if (!is_loaded) MSLITE_TRY(Load(&loaded));
  is_loaded = true;
  *library = &loaded;
  return mindspore::kSuccess;
}

mindspore::Status NnrtStatus(int result, const char *function) {
  if (result == 0) return mindspore::kSuccess;
  constexpr int kMemoryError = 3;
  return Fail(result == kMemoryError ? mindspore::kLiteMemoryFailed : mindspore::kLiteError,
              std::string("OH_NN") + function + ": " + ResultName(result) + " (" + std::to_string(result) + ")");
}

mindspore::Status NnrtMade(const void *object, const char *function) {
  if (object != nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteError, std::string("OH_NN") + function + " gave nothing");
}
}  // namespace mslite
