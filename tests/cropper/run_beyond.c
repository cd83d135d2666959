/* run_beyond model.ms adapter.ms: what no inference needs. Prints a line for each call: its name and what it gives. */
#include <stdio.h>

#include "c_api/model_c.h"

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  MSModelHandle model = MSModelCreate();
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  if (MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context) != kMSStatusSuccess) return 1;
  const int refused = (int)kMSStatusLiteNotSupport;
  size_t count = 1;
  MSTrainCfgHandle config = MSTrainCfgCreate();
  printf("config %d\n", config != NULL);
  char **names = MSTrainCfgGetLossName(config, &count);
  printf("names %d %zu\n", names != NULL, count);
  MSTrainCfgDestroy(&config);
  printf("inference %d\n", (int)MSModelSetTrainMode(model, false));
  printf("training %d\n", MSModelSetTrainMode(model, true) == refused);
  printf("rate %d\n", MSModelSetLearningRate(model, 0.1f) == refused);
  printf("weights %zu\n", MSModelGetWeights(model).handle_num);
  printf("export %d\n", MSExportModel(model, kMSModelTypeMindIR, "out.ms", kMSNO_QUANT, true, NULL, 0) == refused);
  printf("adapter %d\n", (int)MSModelLoadAdapter(model, argv[2]));
  MSModelDestroy(&model);
  return 0;
}
