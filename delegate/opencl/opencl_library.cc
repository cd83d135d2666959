#include "opencl/opencl_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "model/message.h"

namespace mslite {
namespace {
// Paths of the library: Linux, then Android vendors.
constexpr const char *kNames[] = {
    "libOpenCL.so.1",
    "libOpenCL.so",
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libOpenCL.so",
    "/system/lib64/libOpenCL.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "/system/vendor/lib64/egl/libGLES_mali.so",
    "/system/vendor/lib64/libPVROCL.so",
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/libOpenCL.so",
};

std::mutex opening;
OpenClLibrary loaded;
bool is_loaded = false;

Status Load(OpenClLibrary *library) {
  void *handle = nullptr;
  const char *named = std::getenv("MSLITE_OPENCL_LIBRARY");
  if (named != nullptr) {
    handle = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return Fail(mindspore::kLiteNotSupport, std::string("OpenCL: MSLITE_OPENCL_LIBRARY names '") + named +
                                                  "', which cannot be loaded: " + dlerror());
    }
  }
  for (const char *name : kNames) {
    if (handle != nullptr) break;
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    return Fail(mindspore::kLiteNotSupport,
                "OpenCL: no libOpenCL.so found on this system; install the driver of the GPU (Debian: "
                "ocl-icd-libopencl1 and the driver), or set MSLITE_OPENCL_LIBRARY to the path of the library");
  }
  const char *missing = nullptr;
#define MSLITE_LOAD(name)                                                          \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(handle, #name)); \
  if (library->name == nullptr) missing = #name;
  MSLITE_OPENCL_FUNCTIONS(MSLITE_LOAD)
#undef MSLITE_LOAD
  library->handle = handle;
  if (missing == nullptr) return mindspore::kSuccess;
  dlclose(handle);
  return Fail(mindspore::kLiteNotSupport,
              std::string("OpenCL: the library is too old or not the right one: it does not have ") + missing +
                  "; version 1.2 is needed");
}
}  // namespace

Status OpenClLibrary::Open(const OpenClLibrary **library) {
  // A failure is not cached: the next model tries again.
  const std::lock_guard<std::mutex> lock(opening);
  if (!is_loaded) MSLITE_TRY(Load(&loaded));
  is_loaded = true;
  *library = &loaded;
  return mindspore::kSuccess;
}

std::string OpenClErrorText(cl_int error) {
  switch (error) {
#define MSLITE_CASE(name) \
  case name:              \
    return #name " (" + std::to_string(error) + ")";
    MSLITE_CASE(CL_DEVICE_NOT_AVAILABLE)
    MSLITE_CASE(CL_COMPILER_NOT_AVAILABLE)
    MSLITE_CASE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    MSLITE_CASE(CL_OUT_OF_RESOURCES)
    MSLITE_CASE(CL_OUT_OF_HOST_MEMORY)
    MSLITE_CASE(CL_BUILD_PROGRAM_FAILURE)
    MSLITE_CASE(CL_INVALID_VALUE)
    MSLITE_CASE(CL_INVALID_DEVICE)
    MSLITE_CASE(CL_INVALID_CONTEXT)
    MSLITE_CASE(CL_INVALID_COMMAND_QUEUE)
    MSLITE_CASE(CL_INVALID_MEM_OBJECT)
    MSLITE_CASE(CL_INVALID_BINARY)
    MSLITE_CASE(CL_INVALID_KERNEL_ARGS)
    MSLITE_CASE(CL_INVALID_WORK_GROUP_SIZE)
    MSLITE_CASE(CL_INVALID_BUFFER_SIZE)
#undef MSLITE_CASE
    default:
      return "error " + std::to_string(error);
  }
}

Status OpenClStatus(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return mindspore::kSuccess;
  const bool is_memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY;
  return Fail(is_memory ? mindspore::kLiteMemoryFailed : mindspore::kLiteError,
              std::string(what) + ": " + OpenClErrorText(error));
}
}  // namespace mslite
