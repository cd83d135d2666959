#include "nnapi/nnapi_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <iterator>
#include <mutex>

#include "engine/shared_library.h"
#include "model/message.h"

namespace mslite {
namespace {
std::mutex opening;
NnapiLibrary loaded;
bool is_loaded = false;

mindspore::Status Load(NnapiLibrary *library) {
  void *handle = nullptr;
  MSLITE_TRY(OpenShared({"NNAPI",
                         "MSLITE_NNAPI_LIBRARY",
                         std::getenv("MSLITE_NNAPI_LIBRARY"),
                         {"libneuralnetworks.so"},
                         "Android 10 and later have it"},
                        &handle));
  const char *missing = nullptr;
#define MSLITE_LOAD(result, name, parameters)                                                        \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(handle, "ANeuralNetworks" #name)); \
  if (library->name == nullptr) missing = "ANeuralNetworks" #name;
  MSLITE_NNAPI_FUNCTIONS(MSLITE_LOAD)
#undef MSLITE_LOAD
  if (missing == nullptr) return mindspore::kSuccess;
  dlclose(handle);
  return Fail(mindspore::kLiteNotSupport,
              std::string("NNAPI: the library is too old or not the right one: it does not have ") + missing +
                  "; Android 10 or later is needed");
}

const char *ResultName(int result) {
  constexpr const char *kNames[] = {"NO_ERROR",
                                    "OUT_OF_MEMORY",
                                    "INCOMPLETE",
                                    "UNEXPECTED_NULL",
                                    "BAD_DATA",
                                    "OP_FAILED",
                                    "BAD_STATE",
                                    "UNMAPPABLE",
                                    "OUTPUT_INSUFFICIENT_SIZE",
                                    "UNAVAILABLE_DEVICE",
                                    "MISSED_DEADLINE_TRANSIENT",
                                    "MISSED_DEADLINE_PERSISTENT",
                                    "RESOURCE_EXHAUSTED_TRANSIENT",
                                    "RESOURCE_EXHAUSTED_PERSISTENT",
                                    "DEAD_OBJECT"};
  return result >= 0 && result < static_cast<int>(std::size(kNames)) ? kNames[result] : "unknown";
}
}  // namespace

mindspore::Status NnapiLibrary::Open(const NnapiLibrary **library) {
  // A failure is not cached: the next model tries again.
  const std::lock_guard<std::mutex> lock(opening);
  if (!is_loaded) MSLITE_TRY(Load(&loaded));
  is_loaded = true;
  *library = &loaded;
  return mindspore::kSuccess;
}

mindspore::Status NnapiStatus(int result, const char *function) {
  if (result == 0) return mindspore::kSuccess;
  constexpr int kOutOfMemory = 1;
  return Fail(
      result == kOutOfMemory ? mindspore::kLiteMemoryFailed : mindspore::kLiteError,
      std::string("ANeuralNetworks") + function + ": " + ResultName(result) + " (" + std::to_string(result) + ")");
}
}  // namespace mslite
