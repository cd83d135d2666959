/* Name and attributes of a custom operator. The names of types and fields are those of MindSpore Lite. */
#ifndef NNACL_CUSTOM_PARAMETER_H
#define NNACL_CUSTOM_PARAMETER_H

#include <stdbool.h>

#define OP_PARAM_NAME_LEN 100
#define MAX_STR_LEN 64
#define MAX_ATTR_NUM 8

typedef struct OpParameter {
  char name_[OP_PARAM_NAME_LEN]; /* name of the node */
  int type_;
  int thread_num_;
  int quant_type_;
  bool is_train_session_;
  bool is_zero_shape_;
  void (*destroy_func_)(struct OpParameter *parameter);
} OpParameter;

typedef struct CustomParameter {
  OpParameter op_parameter_;
  char type[MAX_STR_LEN]; /* the operator */
  char attr_name[MAX_ATTR_NUM][MAX_STR_LEN];
  char *attr_data[MAX_ATTR_NUM]; /* as in the model file, at a multiple of 8, followed by a zero; read-only */
  int attr_num;
  int attr_size[MAX_ATTR_NUM]; /* bytes; MindSpore Lite has no such field */
} CustomParameter;

#endif
