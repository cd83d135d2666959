// The functions of OpenCL 1.2 that the backend calls. The library is loaded at run time.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_LIBRARY_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_LIBRARY_H

#include <CL/cl.h>

#include <string>

#include "include/api/status.h"

// CALL(name) for each function.
#define MSLITE_OPENCL_FUNCTIONS(CALL) \
  CALL(clGetPlatformIDs)              \
  CALL(clGetPlatformInfo)             \
  CALL(clGetDeviceIDs)                \
  CALL(clGetDeviceInfo)               \
  CALL(clCreateContext)               \
  CALL(clReleaseContext)              \
  CALL(clCreateCommandQueue)          \
  CALL(clReleaseCommandQueue)         \
  CALL(clCreateBuffer)                \
  CALL(clCreateSubBuffer)             \
  CALL(clCreateImage)                 \
  CALL(clReleaseMemObject)            \
  CALL(clCreateProgramWithSource)     \
  CALL(clCreateProgramWithBinary)     \
  CALL(clBuildProgram)                \
  CALL(clGetProgramInfo)              \
  CALL(clGetProgramBuildInfo)         \
  CALL(clReleaseProgram)              \
  CALL(clCreateKernel)                \
  CALL(clReleaseKernel)               \
  CALL(clGetKernelWorkGroupInfo)      \
  CALL(clSetKernelArg)                \
  CALL(clEnqueueNDRangeKernel)        \
  CALL(clEnqueueReadBuffer)           \
  CALL(clEnqueueWriteBuffer)          \
  CALL(clEnqueueWriteImage)           \
  CALL(clEnqueueMapBuffer)            \
  CALL(clEnqueueUnmapMemObject)       \
  CALL(clWaitForEvents)               \
  CALL(clGetEventProfilingInfo)       \
  CALL(clReleaseEvent)                \
  CALL(clFinish)

namespace mslite {
struct OpenClLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_MEMBER(name) decltype(&::name) name = nullptr;
  MSLITE_OPENCL_FUNCTIONS(MSLITE_MEMBER)
#undef MSLITE_MEMBER
  void *handle = nullptr;  // of the library, for functions that are loaded elsewhere

  // Loads the library in the first call: MSLITE_OPENCL_LIBRARY, or a default path of the system. Errors:
  // kLiteNotSupport, with the missing library or function.
  static mindspore::Status Open(const OpenClLibrary **library);
};

// Returns the name and code of an error, such as "CL_OUT_OF_RESOURCES (-5)".
std::string OpenClErrorText(cl_int error);
// Converts an error code to a status: kLiteError, or kLiteMemoryFailed if the device is out of memory.
mindspore::Status OpenClStatus(cl_int error, const char *what);
}  // namespace mslite

#endif
