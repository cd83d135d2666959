/* Functions that get and set values of contexts. The only device is the CPU. */
#include "context.h"

void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num) {
  if (context != NULL) ((MicroContext *)context)->thread_num = thread_num;
}

int32_t MSContextGetThreadNum(const MSContextHandle context) {
  return context == NULL ? 0 : ((const MicroContext *)context)->thread_num;
}

void MSContextSetThreadAffinityMode(MSContextHandle context, int mode) {
  if (context != NULL) ((MicroContext *)context)->affinity_mode = mode;
}

int MSContextGetThreadAffinityMode(const MSContextHandle context) {
  return context == NULL ? 0 : ((const MicroContext *)context)->affinity_mode;
}

void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t *core_list, size_t core_num) {
  if (context == NULL || core_num > MICRO_MAX_CORES || (core_list == NULL && core_num > 0)) return;
  MicroContext *micro = context;
  for (size_t i = 0; i < core_num; ++i) micro->cores[i] = core_list[i];
  micro->core_num = core_num;
}

const int32_t *MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t *core_num) {
  if (core_num == NULL) return NULL;
  *core_num = context == NULL ? 0 : ((const MicroContext *)context)->core_num;
  return context == NULL ? NULL : ((const MicroContext *)context)->cores;
}

void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel) {
  if (context != NULL) ((MicroContext *)context)->enable_parallel = is_parallel;
}

bool MSContextGetEnableParallel(const MSContextHandle context) {
  return context != NULL && ((const MicroContext *)context)->enable_parallel;
}

void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info) {
  (void)context, (void)device_info;
}

/* The CPU, which has no settings. */
static char the_device;

MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type) {
  return device_type == kMSDeviceTypeCPU ? &the_device : NULL;
}

void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info) {
  if (device_info != NULL) *device_info = NULL;
}

void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char *provider) {
  (void)device_info, (void)provider;
}

const char *MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info) {
  (void)device_info;
  return "";
}

void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char *device) {
  (void)device_info, (void)device;
}

const char *MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info) {
  (void)device_info;
  return "";
}

MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info) {
  return device_info == NULL ? kMSDeviceTypeInvalid : kMSDeviceTypeCPU;
}

void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16) { (void)device_info, (void)is_fp16; }

bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info) {
  (void)device_info;
  return false;
}

void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency) { (void)device_info, (void)frequency; }

int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info) {
  (void)device_info;
  return 0;
}
