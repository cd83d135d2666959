/* Data types. The values are those of the C++ API and of model files. */
#ifndef MINDSPORE_INCLUDE_C_API_DATA_TYPE_C_H
#define MINDSPORE_INCLUDE_C_API_DATA_TYPE_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MSDataType {
  kMSDataTypeUnknown = 0,
  kMSDataTypeObjectTypeString = 12,
  kMSDataTypeObjectTypeList = 13,
  kMSDataTypeObjectTypeTuple = 14,
  kMSDataTypeObjectTypeTensor = 17,
  kMSDataTypeNumberTypeBegin = 29,
  kMSDataTypeNumberTypeBool = 30,
  kMSDataTypeNumberTypeInt8 = 32,
  kMSDataTypeNumberTypeInt16 = 33,
  kMSDataTypeNumberTypeInt32 = 34,
  kMSDataTypeNumberTypeInt64 = 35,
  kMSDataTypeNumberTypeUInt8 = 37,
  kMSDataTypeNumberTypeUInt16 = 38,
  kMSDataTypeNumberTypeUInt32 = 39,
  kMSDataTypeNumberTypeUInt64 = 40,
  kMSDataTypeNumberTypeFloat16 = 42,
  kMSDataTypeNumberTypeFloat32 = 43,
  kMSDataTypeNumberTypeFloat64 = 44,
  kMSDataTypeNumberTypeEnd = 46,
  kMSDataTypeInvalid = INT32_MAX,
} MSDataType;

#ifdef __cplusplus
}
#endif
#endif
