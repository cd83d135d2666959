// The functions of OpenHarmony's Neural Network Runtime that the backend calls. The library is loaded at run time. The
// functions are declared here, so that the build does not need OpenHarmony's headers. API level 11 and later have all
// of them.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_LIBRARY_H
#define MSLITE_DELEGATE_NNRT_NNRT_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "include/api/status.h"

namespace mslite {
// Opaque types of the library.
struct NnrtModelHandle;
struct NnrtCompilationHandle;
struct NnrtExecutorHandle;
struct NnrtDescriptionHandle;
struct NnrtTensorHandle;

struct NnrtIndices {
  uint32_t *data;
  uint32_t size;
};

// CALL(result, name without the prefix OH_NN, parameters) for each function. Functions that destroy an object take the
// address of its pointer.
#define MSLITE_NNRT_FUNCTIONS(CALL)                                                                                 \
  CALL(int, Device_GetAllDevicesID, (const size_t **ids, uint32_t *count))                                          \
  CALL(int, Device_GetName, (size_t id, const char **name))                                                         \
  CALL(int, Device_GetType, (size_t id, int32_t * type))                                                            \
  CALL(NnrtDescriptionHandle *, TensorDesc_Create, ())                                                              \
  CALL(int, TensorDesc_Destroy, (NnrtDescriptionHandle * *description))                                             \
  CALL(int, TensorDesc_SetDataType, (NnrtDescriptionHandle * description, int32_t type))                            \
  CALL(int, TensorDesc_SetShape, (NnrtDescriptionHandle * description, const int32_t *shape, size_t count))         \
  CALL(int, TensorDesc_SetFormat, (NnrtDescriptionHandle * description, int32_t format))                            \
  CALL(NnrtModelHandle *, Model_Construct, ())                                                                      \
  CALL(void, Model_Destroy, (NnrtModelHandle * *model))                                                             \
  CALL(int, Model_AddTensorToModel, (NnrtModelHandle * model, const NnrtDescriptionHandle *description))            \
  CALL(int, Model_SetTensorType, (NnrtModelHandle * model, uint32_t index, int32_t role))                           \
  CALL(int, Model_SetTensorData, (NnrtModelHandle * model, uint32_t index, const void *contents, size_t bytes))     \
  CALL(int, Model_AddOperation,                                                                                     \
       (NnrtModelHandle * model, int32_t code, const NnrtIndices *attributes, const NnrtIndices *inputs,            \
        const NnrtIndices *outputs))                                                                                \
  CALL(int, Model_SpecifyInputsAndOutputs,                                                                          \
       (NnrtModelHandle * model, const NnrtIndices *inputs, const NnrtIndices *outputs))                            \
  CALL(int, Model_Finish, (NnrtModelHandle * model))                                                                \
  CALL(int, Model_GetAvailableOperations,                                                                           \
       (NnrtModelHandle * model, size_t device, const bool **supported, uint32_t *count))                           \
  CALL(NnrtCompilationHandle *, Compilation_Construct, (const NnrtModelHandle *model))                              \
  CALL(void, Compilation_Destroy, (NnrtCompilationHandle * *compilation))                                           \
  CALL(int, Compilation_SetDevice, (NnrtCompilationHandle * compilation, size_t device))                            \
  CALL(int, Compilation_SetPerformanceMode, (NnrtCompilationHandle * compilation, int32_t mode))                    \
  CALL(int, Compilation_EnableFloat16, (NnrtCompilationHandle * compilation, bool is_enabled))                      \
  CALL(int, Compilation_Build, (NnrtCompilationHandle * compilation))                                               \
  CALL(NnrtExecutorHandle *, Executor_Construct, (NnrtCompilationHandle * compilation))                             \
  CALL(void, Executor_Destroy, (NnrtExecutorHandle * *executor))                                                    \
  CALL(int, Executor_RunSync,                                                                                       \
       (NnrtExecutorHandle * executor, NnrtTensorHandle * *inputs, size_t input_count, NnrtTensorHandle * *outputs, \
        size_t output_count))                                                                                       \
  CALL(NnrtTensorHandle *, Tensor_Create, (size_t device, NnrtDescriptionHandle * description))                     \
  CALL(int, Tensor_Destroy, (NnrtTensorHandle * *tensor))                                                           \
  CALL(void *, Tensor_GetDataBuffer, (const NnrtTensorHandle *tensor))

struct NnrtLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  MSLITE_NNRT_FUNCTIONS(MSLITE_MEMBER)
#undef MSLITE_MEMBER

  // Loads the library in the first call: MSLITE_NNRT_LIBRARY, or OpenHarmony's library. Errors: kLiteNotSupport, with
  // the file names that were tried.
  static mindspore::Status Open(const NnrtLibrary **library);
};

// Converts a result code to a status: kLiteError or kLiteMemoryFailed, with the names of the function and the result.
mindspore::Status NnrtStatus(int result, const char *function);
// The same for functions that return an object, or null on failure.
mindspore::Status NnrtMade(const void *object, const char *function);
}  // namespace mslite

#endif
