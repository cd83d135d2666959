/* What is the same for every model and machine. Building and running: model_run.c. */
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

/* The shapes of this program are fixed. */
MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  (void)model, (void)inputs, (void)shape_infos, (void)shape_info_num;
  return kMSStatusLiteNotSupport;
}

/* It does not train. */
MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  (void)model, (void)before, (void)after;
  return kMSStatusLiteNotSupport;
}

MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train) {
  (void)model;
  return train ? kMSStatusLiteNotSupport : kMSStatusSuccess;
}

MSStatus MSModelExportWeight(const MSModelHandle model, const char *export_path) {
  (void)model, (void)export_path;
  return kMSStatusLiteNotSupport;
}
