/* Tensors of a model, and tensors from MSTensorCreate. */
#ifndef TENSOR_H_
#define TENSOR_H_

#include <stdbool.h>

#include "include/c_api/tensor_c.h"

#define MICRO_MAX_RANK 8

typedef struct MicroTensor {
  const char *name;
  char *own_name; /* same as `name` if MSTensorSetName or MSTensorCreate copied it, else NULL */
  MSDataType type;
  MSFormat format;
  size_t rank;
  int64_t shape[MICRO_MAX_RANK];
  void *data;
  bool owns_data; /* `data` is from malloc and is freed with the tensor */
  bool of_model;  /* a static tensor of a model, which MSTensorDestroy does not free */
} MicroTensor;

/* Sets the shape of a model's tensor and releases its data. */
void MicroTensorReshape(MicroTensor *tensor, const int64_t *shape, size_t rank);

/* Frees the data and name of a tensor, but not the tensor. */
void MicroTensorRelease(MicroTensor *tensor);

#endif /* TENSOR_H_ */
