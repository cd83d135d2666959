// The functions of OpenHarmony's Neural Network Runtime that the engine calls, from a library that is opened at run
// time. They are declared here, so that nothing of OpenHarmony is needed to build. It has all of them since API level
// 11.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_LIBRARY_H
#define MSLITE_DELEGATE_NNRT_NNRT_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "include/api/status.h"

namespace mslite {
// What the library hands out behind pointers.
struct NnrtModelHandle;
struct NnrtCompilationHandle;
struct NnrtExecutorHandle;
struct NnrtDescriptionHandle;
struct NnrtTensorHandle;

struct NnrtIndices {
  uint32_t *data;
  uint32_t size;
};

// CALL(result, name without the prefix OH_NN, parameters) for each function. What destroys an object takes the place of
// its pointer.
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

  // The library of this process, opened with the first call: MSLITE_NNRT_LIBRARY, or OpenHarmony's. Errors:
  // kLiteNotSupport, with what was looked for.
  static mindspore::Status Open(const NnrtLibrary **library);
};

// kLiteError (or kLiteMemoryFailed) with the function's name and that of the result, or success.
mindspore::Status NnrtStatus(int result, const char *function);
// The same for functions that give an object, or null.
mindspore::Status NnrtMade(const void *object, const char *function);
}  // namespace mslite

#endif
