/* Common types of the C API. */
#ifndef MINDSPORE_INCLUDE_C_API_TYPES_C_H
#define MINDSPORE_INCLUDE_C_API_TYPES_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MS_API
#if defined(_WIN32)
#define MS_API __declspec(dllexport)
#else
#define MS_API __attribute__((visibility("default")))
#endif
#endif

typedef enum MSModelType {
  kMSModelTypeMindIR = 0,
  kMSModelTypeInvalid = -1, /* 0xFFFFFFFF */
} MSModelType;

typedef enum MSDeviceType {
  kMSDeviceTypeCPU = 0,
  kMSDeviceTypeGPU = 1,
  kMSDeviceTypeKirinNPU = 2,
  kMSDeviceTypeInvalid = 100,
} MSDeviceType;

typedef enum MSOptimizationLevel {
  kMSKO0 = 0,
  kMSKO2 = 2,
  kMSKO3 = 3,
  kMSKAUTO = 4,
  kMSKOPTIMIZATIONTYPE = -1, /* 0xFFFFFFFF */
} MSOptimizationLevel;

typedef enum MSQuantizationType {
  kMSNO_QUANT = 0,
  kMSWEIGHT_QUANT = 1,
  kMSFULL_QUANT = 2,
  kMSUNKNOWN_QUANT_TYPE = -1, /* 0xFFFFFFFF */
} MSQuantizationType;

#ifdef __cplusplus
}
#endif
#endif
