/* Builds and runs a model, with memory from the heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "context.h"
#include "model.h"
#include "threads.h"

static void Release(MicroModel *model) {
  for (size_t i = 0; i < model->inputs.handle_num; ++i) MicroTensorRelease(model->inputs.handle_list[i]);
  for (size_t i = 0; i < model->outputs.handle_num; ++i) MicroTensorRelease(model->outputs.handle_list[i]);
  free(model->weights_block);
  model->weights = model->weights_block = NULL;
  if (model->info->keeps_state) free(model->arena_block);
  if (model->built && !model->info->keeps_state) MicroArenaLeave();
  model->arena = model->arena_block = NULL;
  MicroThreadsDestroy(model->threads);
  model->threads = NULL;
  model->built = false;
}

void MSModelDestroy(MSModelHandle *model) {
  if (model == NULL || *model == NULL) return;
  Release(*model);
  *model = NULL;
}

static MSStatus TakeWeights(MicroModel *model, const void *data, size_t size) {
  if (model->info->weights_size == 0) return kMSStatusSuccess;
  const bool is_loaded = model->info->load != NULL;
  if (data == NULL || (!is_loaded && size != model->info->file_size)) return kMSStatusLiteInputParamInvalid;
  model->weights = MicroAllocateAligned(model->info->weights_size, &model->weights_block);
  if (model->weights == NULL) return kMSStatusLiteMemoryFailed;
  if (is_loaded && !model->info->load(model->weights, data, size)) return kMSStatusLiteInputParamInvalid;
  if (!is_loaded) memcpy(model->weights, data, size);
  return kMSStatusSuccess;
}

static bool TakeMemory(MicroModel *model) {
  for (size_t i = 0; i < model->outputs.handle_num; ++i) {
    const MSTensorHandle output = model->outputs.handle_list[i];
    if (MSTensorGetDataSize(output) > 0 && MSTensorGetMutableData(output) == NULL) return false;
  }
  if (!model->info->keeps_state) return MicroArenaJoin(model->info->arena_size);
  model->arena = MicroAllocateAligned(model->info->arena_size, &model->arena_block);
  return model->arena != NULL;
}

MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                      const MSContextHandle model_context) {
  if (model == NULL) return kMSStatusLiteNullptr;
  if (model_type != kMSModelTypeMindIR) return kMSStatusLiteInputParamInvalid;
  MicroModel *micro = model;
  if (micro->built) Release(micro);
  MSStatus status = TakeWeights(micro, model_data, data_size);
  if (status == kMSStatusSuccess && !TakeMemory(micro)) status = kMSStatusLiteMemoryFailed;
  micro->built = status == kMSStatusSuccess;
  if (micro->built && !MicroThreadsCreate(&micro->threads, model_context)) status = kMSStatusLiteThreadPoolError;
  if (status != kMSStatusSuccess) Release(micro);
  if (status == kMSStatusSuccess && micro->info->reset != NULL) micro->info->reset(micro);
  return status;
}

static void *ReadFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  void *data = NULL;
  long length;
  if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0) {
    *size = (size_t)length;
    data = malloc(*size);
    if (data != NULL && fread(data, 1, *size, file) != *size) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  if (model == NULL || model_path == NULL) return kMSStatusLiteNullptr;
  size_t size = 0;
  void *data = ReadFile(model_path, &size);
  if (data == NULL) return kMSStatusLiteFileError;
  const MSStatus status = MSModelBuild(model, data, size, model_type, model_context);
  free(data);
  return status;
}

/* Writes the weights of a built model to a file that MSModelBuild accepts. */
MSStatus MSModelExportWeight(const MSModelHandle model, const char *export_path) {
  if (model == NULL || export_path == NULL) return kMSStatusLiteNullptr;
  const MicroModel *micro = model;
  if (micro->info->weights_size == 0) return kMSStatusLiteNotSupport;
  if (!micro->built) return kMSStatusLiteUninitializedObj;
  FILE *file = fopen(export_path, "wb");
  if (file == NULL) return kMSStatusLiteFileError;
  const bool is_written = fwrite(micro->weights, 1, micro->info->file_size, file) == micro->info->file_size;
  if (fclose(file) == 0 && is_written) return kMSStatusSuccess;
  (void)remove(export_path); /* the file is incomplete */
  return kMSStatusLiteFileError;
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  if (model == NULL) return kMSStatusLiteNullptr;
  MicroModel *micro = model;
  if (micro->info->reshape == NULL) return kMSStatusLiteNotSupport;
  if (shape_infos == NULL) return kMSStatusLiteNullptr;
  if (inputs.handle_num != micro->inputs.handle_num || shape_info_num != micro->inputs.handle_num) {
    return kMSStatusLiteParamInvalid;
  }
  for (size_t i = 0; i < shape_info_num; ++i) {
    size_t rank = 0;
    (void)MSTensorGetShape(micro->inputs.handle_list[i], &rank);
    if (inputs.handle_list[i] != micro->inputs.handle_list[i]) return kMSStatusLiteInputTensorError;
    if (shape_infos[i].shape_num != rank) return kMSStatusLiteParamInvalid;
    micro->input_data[i] = shape_infos[i].shape;
  }
  return micro->info->reshape(micro) ? kMSStatusSuccess : kMSStatusLiteParamInvalid;
}

int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]) {
  for (size_t i = 0; i < model->inputs.handle_num; ++i) model->input_data[i] = MSTensorGetData(inputs[i]);
  for (size_t i = 0; i < model->outputs.handle_num; ++i) model->output_data[i] = MSTensorGetMutableData(outputs[i]);
  void *arena = model->info->keeps_state ? model->arena : MicroArenaTake();
  const int failed = model->info->run(model, model->input_data, model->output_data, arena);
  if (!model->info->keeps_state) MicroArenaGiveBack();
  return failed;
}

/* Not supported: this code uses the heap. */
MSStatus MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size) {
  (void)model, (void)workspace, (void)workspace_size;
  return kMSStatusLiteNotSupport;
}

size_t MSModelCalcWorkspaceSize(MSModelHandle model) {
  (void)model;
  return 0;
}
