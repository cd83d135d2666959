/* Builds and runs a model in memory that the caller provides. */
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

/* Not supported: microcontrollers have no files. */
MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  (void)model, (void)model_path, (void)model_type, (void)model_context;
  return kMSStatusLiteNotSupport;
}

MSStatus MSModelExportWeight(const MSModelHandle model, const char *export_path) {
  (void)model, (void)export_path;
  return kMSStatusLiteNotSupport;
}

/* Not supported: all shapes are fixed. */
MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  (void)model, (void)inputs, (void)shape_infos, (void)shape_info_num;
  return kMSStatusLiteNotSupport;
}

int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]) {
  return model->info->run(inputs, outputs, model->workspace);
}
