/* Contexts and devices of the C API. Functions ignore null handles; getters then return 0. */
#ifndef MINDSPORE_INCLUDE_C_API_CONTEXT_C_H
#define MINDSPORE_INCLUDE_C_API_CONTEXT_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/c_api/types_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSContextHandle;
typedef void *MSDeviceInfoHandle;

MS_API MSContextHandle MSContextCreate(void);
/* Destroys the context and sets the handle to NULL. */
MS_API void MSContextDestroy(MSContextHandle *context);
MS_API void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num);
MS_API int32_t MSContextGetThreadNum(const MSContextHandle context);
MS_API void MSContextSetThreadAffinityMode(MSContextHandle context, int mode);
MS_API int MSContextGetThreadAffinityMode(const MSContextHandle context);
MS_API void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t *core_list, size_t core_num);
/* Returns the list of cores. It belongs to the context and is valid until the list is set again. */
MS_API const int32_t *MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t *core_num);
MS_API void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel);
MS_API bool MSContextGetEnableParallel(const MSContextHandle context);
/* Sets limits for one run: the number of operators, the wall time in milliseconds and the bytes of memory. 0: no limit.
   A run that reaches a limit ends with kMSStatusLiteServiceDeny or, for memory, kMSStatusLiteMemoryFailed. Returns
   false for negative values. mslite extension; not in generated C. */
MS_API bool MSContextSetRunLimits(MSContextHandle context, int64_t steps, int64_t milliseconds, int64_t bytes);
/* Adds a device. The context takes ownership: the caller must not destroy the device afterwards. */
MS_API void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info);

MS_API MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type);
MS_API void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info);
MS_API void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char *provider);
MS_API const char *MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char *device);
MS_API const char *MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info);
MS_API MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16);
MS_API bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info);
MS_API void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency);
MS_API int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info);

#ifdef __cplusplus
}
#endif
#endif
