// The functions of Android's Neural Networks API that the backend calls. The library is loaded at run time. The
// functions are declared here, so that the build does not need Android's headers. Android 10 and later have all of
// them.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_LIBRARY_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "include/api/status.h"
#include "nnapi/nnapi_codes.h"

namespace mslite {
// Opaque types of the library.
struct NnapiDeviceHandle;
struct NnapiModelHandle;
struct NnapiCompilationHandle;
struct NnapiExecutionHandle;

struct NnapiOperandType {
  int32_t type;
  uint32_t dimension_count;
  const uint32_t *dimensions;
  float scale;
  int32_t zero_point;
};

struct NnapiChannelScales {
  uint32_t channel_dimension;
  uint32_t count;
  const float *scales;
};

// CALL(result, name without the prefix ANeuralNetworks, parameters) for each function.
#define MSLITE_NNAPI_FUNCTIONS(CALL)                                                                                 \
  CALL(int, _getDeviceCount, (uint32_t * count))                                                                     \
  CALL(int, _getDevice, (uint32_t index, NnapiDeviceHandle * *device))                                               \
  CALL(int, Device_getName, (const NnapiDeviceHandle *device, const char **name))                                    \
  CALL(int, Device_getType, (const NnapiDeviceHandle *device, int32_t *type))                                        \
  CALL(int, Device_getFeatureLevel, (const NnapiDeviceHandle *device, int64_t *level))                               \
  CALL(int, Model_create, (NnapiModelHandle * *model))                                                               \
  CALL(void, Model_free, (NnapiModelHandle * model))                                                                 \
  CALL(int, Model_finish, (NnapiModelHandle * model))                                                                \
  CALL(int, Model_addOperand, (NnapiModelHandle * model, const NnapiOperandType *type))                              \
  CALL(int, Model_setOperandValue, (NnapiModelHandle * model, int32_t index, const void *buffer, size_t length))     \
  CALL(int, Model_setOperandSymmPerChannelQuantParams,                                                               \
       (NnapiModelHandle * model, int32_t index, const NnapiChannelScales *scales))                                  \
  CALL(int, Model_addOperation,                                                                                      \
       (NnapiModelHandle * model, int32_t type, uint32_t input_count, const uint32_t *inputs, uint32_t output_count, \
        const uint32_t *outputs))                                                                                    \
  CALL(int, Model_identifyInputsAndOutputs,                                                                          \
       (NnapiModelHandle * model, uint32_t input_count, const uint32_t *inputs, uint32_t output_count,               \
        const uint32_t *outputs))                                                                                    \
  CALL(int, Model_relaxComputationFloat32toFloat16, (NnapiModelHandle * model, bool allow))                          \
  CALL(int, Model_getSupportedOperationsForDevices,                                                                  \
       (const NnapiModelHandle *model, const NnapiDeviceHandle *const *devices, uint32_t count, bool *supported))    \
  CALL(int, Compilation_createForDevices,                                                                            \
       (NnapiModelHandle * model, const NnapiDeviceHandle *const *devices, uint32_t count,                           \
        NnapiCompilationHandle **compilation))                                                                       \
  CALL(int, Compilation_setPreference, (NnapiCompilationHandle * compilation, int32_t preference))                   \
  CALL(int, Compilation_finish, (NnapiCompilationHandle * compilation))                                              \
  CALL(void, Compilation_free, (NnapiCompilationHandle * compilation))                                               \
  CALL(int, Execution_create, (NnapiCompilationHandle * compilation, NnapiExecutionHandle * *execution))             \
  CALL(int, Execution_setInput,                                                                                      \
       (NnapiExecutionHandle * execution, int32_t index, const NnapiOperandType *type, const void *buffer,           \
        size_t length))                                                                                              \
  CALL(int, Execution_setOutput,                                                                                     \
       (NnapiExecutionHandle * execution, int32_t index, const NnapiOperandType *type, void *buffer, size_t length)) \
  CALL(int, Execution_compute, (NnapiExecutionHandle * execution))                                                   \
  CALL(void, Execution_free, (NnapiExecutionHandle * execution))

struct NnapiLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  MSLITE_NNAPI_FUNCTIONS(MSLITE_MEMBER)
#undef MSLITE_MEMBER

  // Loads the library in the first call: MSLITE_NNAPI_LIBRARY, or Android's library. Errors: kLiteNotSupport, with the
  // file names that were tried.
  static mindspore::Status Open(const NnapiLibrary **library);
};

// Converts a result code to a status: kLiteError or kLiteMemoryFailed, with the names of the function and the result.
mindspore::Status NnapiStatus(int result, const char *function);
}  // namespace mslite

#endif
