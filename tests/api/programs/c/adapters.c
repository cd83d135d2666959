/* adapters TRAINING.ms BASE.ms ADAPTER.ms: trains the adapters of a model, and gives them to its base. Prints the
   results of the trained model, of the base, with the adapter, and without it again. */
#include <stdio.h>
#include <stdlib.h>

#include "include/c_api/model_c.h"

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      exit(1);                                                     \
    }                                                              \
  } while (0)

static MSContextHandle cpu(void) {
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  return context;
}

/* Numbers from 0 to 1, and 0 for the label. */
static void fill(MSModelHandle model) {
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  float *image = MSTensorGetMutableData(inputs.handle_list[0]);
  for (int64_t i = 0; i < MSTensorGetElementNum(inputs.handle_list[0]); ++i) image[i] = (float)(i * 7 % 13) / 13.0f;
  if (inputs.handle_num > 1) *(int32_t *)MSTensorGetMutableData(inputs.handle_list[1]) = 0;
}

static void print(const char *name, MSModelHandle model) {
  MSTensorHandleArray outputs = {0, NULL};
  fill(model);
  CHECK(MSModelPredict(model, MSModelGetInputs(model), &outputs, NULL, NULL) == kMSStatusSuccess);
  const float *values = MSTensorGetData(outputs.handle_list[0]);
  printf("%s", name);
  for (int64_t i = 0; i < MSTensorGetElementNum(outputs.handle_list[0]); ++i) printf(" %.9g", (double)values[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  CHECK(MSExportAdapter(NULL, argv[3]) == kMSStatusLiteNullptr);
  CHECK(MSModelLoadAdapter(NULL, argv[3]) == kMSStatusLiteNullptr);
  CHECK(MSModelUnloadAdapter(NULL) == kMSStatusLiteNullptr);

  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  MSModelHandle model = MSModelCreate();
  CHECK(MSModelLoadAdapter(model, argv[3]) == kMSStatusLiteUninitializedObj);
  CHECK(MSTrainModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, cpu(), cfg) == kMSStatusSuccess);
  MSTrainCfgDestroy(&cfg);
  CHECK(MSModelSetTrainMode(model, true) == kMSStatusSuccess);
  fill(model);
  for (int i = 0; i < 10; ++i) CHECK(MSRunStep(model, NULL, NULL) == kMSStatusSuccess);
  CHECK(MSExportAdapter(model, NULL) == kMSStatusLiteNullptr);
  CHECK(MSExportAdapter(model, argv[3]) == kMSStatusSuccess);
  CHECK(MSModelLoadAdapter(model, argv[3]) == kMSStatusLiteNotSupport);
  CHECK(MSModelSetTrainMode(model, false) == kMSStatusSuccess);
  print("trained", model);
  MSModelDestroy(&model);

  MSModelHandle base = MSModelCreate();
  CHECK(MSModelBuildFromFile(base, argv[2], kMSModelTypeMindIR, cpu()) == kMSStatusSuccess);
  CHECK(MSExportAdapter(base, argv[3]) == kMSStatusLiteNotSupport);
  MSShapeInfo shape = {4, {1, 8, 8, 1}};
  CHECK(MSModelResize(base, MSModelGetInputs(base), &shape, 1) == kMSStatusSuccess);
  print("base", base);
  CHECK(MSModelLoadAdapter(base, NULL) == kMSStatusLiteNullptr);
  CHECK(MSModelLoadAdapter(base, argv[2]) == kMSStatusLiteGraphFileError);
  CHECK(MSModelLoadAdapter(base, "there is none") != kMSStatusSuccess);
  CHECK(MSModelLoadAdapter(base, argv[3]) == kMSStatusSuccess);
  print("adapter", base);
  CHECK(MSModelUnloadAdapter(base) == kMSStatusSuccess);
  print("without", base);
  MSModelDestroy(&base);
  return 0;
}
