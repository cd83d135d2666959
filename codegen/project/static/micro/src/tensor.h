/* The tensors of a model. Without a heap, no other tensors can be created. */
#ifndef TENSOR_H_
#define TENSOR_H_

#include "include/c_api/tensor_c.h"

/* Constant properties of a tensor, in flash. */
typedef struct MicroTensorInfo {
  const char *name;
  const int64_t *shape;
  size_t rank;
  size_t size; /* bytes */
  int64_t element_count;
  MSDataType type;
  MSFormat format;
} MicroTensorInfo;

typedef struct MicroTensor {
  const MicroTensorInfo *info;
  void *data;
} MicroTensor;

#endif /* TENSOR_H_ */
