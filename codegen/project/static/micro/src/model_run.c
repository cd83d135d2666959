/* Building and running a model in memory that the caller gives. */
#include "model.h"

void MSModelDestroy(MSModelHandle *model) {
  if (model == NULL || *model == NULL) return;
  MicroModel *micro = *model;
  micro->workspace = NULL;
  micro->built = false;
  *model = NULL;
}

size_t MSModelCalcWorkspaceSize(MSModelHandle model) {
  if (model == NULL) return 0;
  const MicroModelInfo *info = ((const MicroModel *)model)->info;
  return info->workspace_size;
}

/* The block must begin at a multiple of MODEL<i>_ARENA_ALIGNMENT. */
MSStatus MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size) {
  if (model == NULL || workspace == NULL) return kMSStatusLiteNullptr;
  MicroModel *micro = model;
  if (workspace_size < micro->info->workspace_size) return kMSStatusLiteMemoryFailed;
  if ((uintptr_t)workspace % micro->info->alignment != 0) return kMSStatusLiteParamInvalid;
  micro->workspace = workspace;
  micro->built = false;
  return kMSStatusSuccess;
}

static void Place(MSTensorHandleArray tensors, const size_t offsets[], unsigned char *workspace) {
  for (size_t i = 0; i < tensors.handle_num; ++i) MSTensorSetData(tensors.handle_list[i], workspace + offsets[i]);
}

MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                      const MSContextHandle model_context) {
  (void)model_data, (void)data_size, (void)model_context;
  if (model == NULL) return kMSStatusLiteNullptr;
  MicroModel *micro = model;
  if (model_type != kMSModelTypeMindIR) return kMSStatusLiteInputParamInvalid;
  if (micro->workspace == NULL) return kMSStatusLiteMemoryFailed;
  Place(micro->inputs, micro->info->input_offsets, micro->workspace);
  Place(micro->outputs, micro->info->output_offsets, micro->workspace);
  if (micro->info->reset != NULL) micro->info->reset(micro->workspace);
  micro->built = true;
  return kMSStatusSuccess;
}

/* There are no files. */
MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  (void)model, (void)model_path, (void)model_type, (void)model_context;
  return kMSStatusLiteNotSupport;
}

static bool HaveData(MSTensorHandleArray given, MSTensorHandleArray wanted) {
  if (given.handle_num != wanted.handle_num) return false;
  for (size_t i = 0; i < given.handle_num; ++i) {
    if (MSTensorGetDataSize(given.handle_list[i]) != MSTensorGetDataSize(wanted.handle_list[i])) return false;
    if (MSTensorGetData(given.handle_list[i]) == NULL) return false;
  }
  return true;
}

/* Inputs that lie in the workspace are used up by the run: they are to be written before each. */
MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after) {
  (void)before, (void)after;
  if (model == NULL || outputs == NULL) return kMSStatusLiteNullptr;
  MicroModel *micro = model;
  if (!micro->built) return kMSStatusLiteUninitializedObj;
  if (outputs->handle_num == 0) *outputs = micro->outputs;
  if (!HaveData(inputs, micro->inputs)) return kMSStatusLiteInputTensorError;
  if (!HaveData(*outputs, micro->outputs)) return kMSStatusLiteParamInvalid;
  const int failed = micro->info->run(inputs.handle_list, outputs->handle_list, micro->workspace);
  return failed == 0 ? kMSStatusSuccess : kMSStatusLiteError;
}
