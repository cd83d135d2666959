/* The tensors of a model. There is no heap: no others can be made. */
#ifndef TENSOR_H_
#define TENSOR_H_

#include "include/c_api/tensor_c.h"

/* What never changes, in flash. */
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
