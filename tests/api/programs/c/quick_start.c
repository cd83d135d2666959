/* quick_start MODEL.ms INPUT.bin: a model from a file, callbacks, the outputs as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/c_api/context_c.h"
#include "include/c_api/model_c.h"
#include "include/c_api/status_c.h"

static int node_count = 0;

static bool before(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs, const MSCallBackParamC info) {
  (void)inputs;
  (void)outputs;
  if (strlen(info.node_name) > 0 && strlen(info.node_type) > 0) ++node_count;
  return true;
}

static int fill(MSTensorHandle tensor, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 0;
  const size_t size = MSTensorGetDataSize(tensor);
  void *data = MSTensorGetMutableData(tensor);
  const int ok = data != NULL && fread(data, 1, size, file) == size;
  fclose(file);
  return ok;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  MSContextHandle context = MSContextCreate();
  if (context == NULL) return 1;
  MSContextSetThreadNum(context, 2);
  MSContextSetThreadAffinityMode(context, 1);
  MSContextSetEnableParallel(context, false);
  if (MSContextGetThreadNum(context) != 2 || MSContextGetThreadAffinityMode(context) != 1) return 1;
  MSDeviceInfoHandle cpu = MSDeviceInfoCreate(kMSDeviceTypeCPU);
  MSDeviceInfoSetEnableFP16(cpu, false);
  if (MSDeviceInfoGetDeviceType(cpu) != kMSDeviceTypeCPU) return 1;
  MSContextAddDeviceInfo(context, cpu);

  MSModelHandle model = MSModelCreate();
  int ret = MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context);
  if (ret != kMSStatusSuccess) {
    printf("MSModelBuildFromFile failed, ret: %d.\n", ret);
    MSModelDestroy(&model);
    return 1;
  }
  MSTensorHandleArray inputs = MSModelGetInputs(model);
  for (size_t i = 0; i < inputs.handle_num; ++i) {
    if (!fill(inputs.handle_list[i], argv[2])) return 1;
  }
  MSTensorHandleArray outputs = {0, NULL};
  ret = MSModelPredict(model, inputs, &outputs, before, NULL);
  if (ret != kMSStatusSuccess || node_count == 0) return 1;
  for (size_t i = 0; i < outputs.handle_num; ++i) {
    MSTensorHandle tensor = outputs.handle_list[i];
    const float *data = (const float *)MSTensorGetData(tensor);
    printf("%s", MSTensorGetName(tensor));
    for (int64_t k = 0; k < MSTensorGetElementNum(tensor); ++k) printf(" %.9g", (double)data[k]);
    printf("\n");
  }
  MSModelDestroy(&model);
  return model == NULL ? 0 : 1;
}
