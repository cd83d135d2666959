/* resize MODEL.ms: another batch, tensors of the caller, the settings of training. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/c_api/model_c.h"

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  if (MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context) != kMSStatusSuccess) return 1;

  MSTensorHandleArray inputs = MSModelGetInputs(model);
  MSTensorHandle input = inputs.handle_list[0];
  if (MSModelGetInputByTensorName(model, MSTensorGetName(input)) == NULL) return 1;
  size_t shape_num = 0;
  const int64_t *shape = MSTensorGetShape(input, &shape_num);
  MSShapeInfo info;
  info.shape_num = shape_num;
  memcpy(info.shape, shape, shape_num * sizeof(int64_t));
  info.shape[0] = 2;
  if (MSModelResize(model, inputs, &info, 1) != kMSStatusSuccess) return 1;
  if (MSTensorGetDataType(input) != kMSDataTypeNumberTypeFloat32) return 1;

  /* A tensor of the caller in the input's place. */
  const size_t size = MSTensorGetDataSize(input);
  float *values = malloc(size);
  if (values == NULL) return 1;
  for (size_t i = 0; i < size / sizeof(float); ++i) values[i] = (float)(i % 7) / 6.0f;
  MSTensorHandle own = MSTensorCreate("own", kMSDataTypeNumberTypeFloat32, info.shape, info.shape_num, values, size);
  free(values);
  MSTensorHandle copy = MSTensorClone(own);
  if (own == NULL || copy == NULL || MSTensorGetData(own) == MSTensorGetData(copy)) return 1;
  MSTensorSetFormat(copy, kMSFormatNCHW);
  if (MSTensorGetFormat(copy) != kMSFormatNCHW) return 1;
  MSTensorDestroy(&copy);

  MSTensorHandleArray given = {1, &own};
  MSTensorHandleArray outputs = MSModelGetOutputs(model);
  if (MSModelPredict(model, given, &outputs, NULL, NULL) != kMSStatusSuccess) return 1;
  for (size_t i = 0; i < outputs.handle_num; ++i) {
    const float *data = (const float *)MSTensorGetData(outputs.handle_list[i]);
    printf("%s", MSTensorGetName(outputs.handle_list[i]));
    for (int64_t k = 0; k < MSTensorGetElementNum(outputs.handle_list[i]); ++k) printf(" %.9g", (double)data[k]);
    printf("\n");
  }
  MSTensorDestroy(&own);

  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  const char *names[] = {"my_loss", "other"};
  MSTrainCfgSetLossName(cfg, names, 2);
  size_t num = 0;
  char **kept = MSTrainCfgGetLossName(cfg, &num);
  if (kept == NULL || num != 2 || strcmp(kept[1], "other") != 0) return 1;
  for (size_t i = 0; i < num; ++i) free(kept[i]);
  free(kept);
  MSTrainCfgSetOptimizationLevel(cfg, kMSKO2);
  if (MSTrainCfgGetOptimizationLevel(cfg) != kMSKO2) return 1;
  MSTrainCfgDestroy(&cfg);
  MSModelDestroy(&model);
  return 0;
}
