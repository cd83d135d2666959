/* The MSModel functions that are the same for all models and targets. Building and running are in model_run.c. */
#include "model.h"

#include <string.h>

MSTensorHandleArray MSModelGetInputs(const MSModelHandle model) {
  const MSTensorHandleArray none = {0, NULL};
  return model == NULL ? none : ((const MicroModel *)model)->inputs;
}

MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model) {
  const MSTensorHandleArray none = {0, NULL};
  return model == NULL ? none : ((const MicroModel *)model)->outputs;
}

static MSTensorHandle Find(MSTensorHandleArray tensors, const char *name) {
  for (size_t i = 0; name != NULL && i < tensors.handle_num; ++i) {
    if (strcmp(MSTensorGetName(tensors.handle_list[i]), name) == 0) return tensors.handle_list[i];
  }
  return NULL;
}

MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return Find(MSModelGetInputs(model), tensor_name);
}

MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return Find(MSModelGetOutputs(model), tensor_name);
}

/* Returns whether a tensor of the caller has the data type and size of the model's tensor. */
static bool Fits(const MSTensorHandle given, const MSTensorHandle wanted) {
  return given != NULL && MSTensorGetDataType(given) == MSTensorGetDataType(wanted) &&
         MSTensorGetDataSize(given) == MSTensorGetDataSize(wanted);
}

/* A run overwrites inputs in the workspace, so they must be written before each run. */
MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after) {
  (void)before, (void)after;
  if (model == NULL || outputs == NULL) return kMSStatusLiteNullptr;
  MicroModel *micro = model;
  if (!micro->built) return kMSStatusLiteUninitializedObj;
  if (outputs->handle_num == 0) *outputs = micro->outputs;
  if (inputs.handle_num != micro->inputs.handle_num || outputs->handle_num != micro->outputs.handle_num) {
    return kMSStatusLiteParamInvalid;
  }
  for (size_t i = 0; i < inputs.handle_num; ++i) {
    const MSTensorHandle given = inputs.handle_list[i];
    if (!Fits(given, micro->inputs.handle_list[i])) return kMSStatusLiteInputTensorError;
    if (MSTensorGetData(given) == NULL && MSTensorGetDataSize(given) > 0) return kMSStatusLiteNullptr;
  }
  for (size_t i = 0; i < outputs->handle_num; ++i) {
    const MSTensorHandle given = outputs->handle_list[i];
    if (!Fits(given, micro->outputs.handle_list[i])) return kMSStatusLiteParamInvalid;
    if (MSTensorGetMutableData(given) == NULL && MSTensorGetDataSize(given) > 0) return kMSStatusLiteMemoryFailed;
  }
  return MicroModelRun(micro, inputs.handle_list, outputs->handle_list) == 0 ? kMSStatusSuccess : kMSStatusLiteError;
}

/* Not supported: the model was generated for inference. */
MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  (void)model, (void)before, (void)after;
  return kMSStatusLiteNotSupport;
}

MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train) {
  (void)model;
  return train ? kMSStatusLiteNotSupport : kMSStatusSuccess;
}
