/* Calls CustomKernel. Its arguments are in the workspace: the tensors, then the parameter. */
#include "custom.h"

#include <string.h>

enum { BAD_VALUE = 5 }; /* a mslite_status */

/* The sizes that the workspace was planned for. */
typedef char mslite_custom_sizes[sizeof(TensorC) <= 104 && sizeof(CustomParameter) <= 808 ? 1 : -1];

void mslite_custom_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_custom *own = run->derived;
  const int32_t count = own->input_count + own->output_count;
  TensorC *tensors = run->shared;
  CustomParameter *param = (CustomParameter *)(void *)(tensors + count);
  memcpy(tensors, own->tensors, (size_t)count * sizeof *tensors);
  memcpy(param, own->param, sizeof *param);
  TensorC *outputs = tensors + own->input_count;
  for (int32_t i = 0; i < own->input_count; ++i) tensors[i].data_ = (void *)run->inputs[i];
  for (int32_t i = 0; i < own->output_count; ++i) outputs[i].data_ = run->outputs[i];
  const int status = CustomKernel(tensors, (int)own->input_count, outputs, (int)own->output_count, param);
  if (status != 0 && run->failure != NULL) run->failure->status = BAD_VALUE;
}
