/* Tensors: those of a model, and those that MSTensorCreate makes. */
#ifndef TENSOR_H_
#define TENSOR_H_

#include <stdbool.h>

#include "include/c_api/tensor_c.h"

#define MICRO_MAX_RANK 8

typedef struct MicroTensor {
  const char *name;
  char *own_name; /* `name`, where MSTensorSetName or MSTensorCreate copied it */
  MSDataType type;
  MSFormat format;
  size_t rank;
  int64_t shape[MICRO_MAX_RANK];
  void *data;
  bool owns_data; /* `data` is the tensor's, from malloc */
  bool of_model;  /* lives as long as the program: MSTensorDestroy leaves it alone */
} MicroTensor;

/* Gives a tensor of a model another shape; its data go. */
void MicroTensorReshape(MicroTensor *tensor, const int64_t *shape, size_t rank);

/* Frees what a tensor holds, not the tensor. */
void MicroTensorRelease(MicroTensor *tensor);

#endif /* TENSOR_H_ */
