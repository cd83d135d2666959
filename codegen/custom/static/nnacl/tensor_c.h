/* A tensor, as an argument of CustomKernel. The names of types and fields are those of MindSpore Lite. */
#ifndef NNACL_TENSOR_C_H
#define NNACL_TENSOR_C_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_SHAPE_SIZE 16

enum { ConstTensor = 0, ConstScalar = 1, VarTensor = 2, GraphInput = 3, GraphOutput = 4 };

typedef struct TensorC {
  bool shape_changed_;
  int data_type_; /* 43: float, 42: half, 32: int8_t, 33: int16_t, 34: int32_t, 35: int64_t, 37: uint8_t, 30: bool */
  int format_;    /* 1: NHWC */
  int category_;
  void *data_;
  size_t shape_size_; /* number of dimensions */
  int shape_[MAX_SHAPE_SIZE];
  char *name_;
} TensorC;

#endif
