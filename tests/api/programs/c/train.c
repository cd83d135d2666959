/* train TRAINING.ms INFERENCE.ms FOLDER: steps, checkpoints that go on bit for bit, weights, and what is refused.
   Prints the losses of the steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/c_api/model_c.h"

enum { kSteps = 6, kFirst = 3 };

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      exit(1);                                                     \
    }                                                              \
  } while (0)

static int nodes = 0;

static bool count(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs, const MSCallBackParamC info) {
  (void)inputs;
  (void)outputs;
  if (strlen(info.node_name) > 0) ++nodes;
  return true;
}

static MSContextHandle cpu(void) {
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  return context;
}

/* Numbers from 0 to 1, or labels from 0 to 9. */
static void fill(MSModelHandle model) {
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  for (size_t i = 0; i < inputs.handle_num; ++i) {
    void *data = MSTensorGetMutableData(inputs.handle_list[i]);
    const int64_t elements = MSTensorGetElementNum(inputs.handle_list[i]);
    const bool is_label = MSTensorGetDataType(inputs.handle_list[i]) == kMSDataTypeNumberTypeInt32;
    for (int64_t k = 0; k < elements; ++k) {
      if (is_label) {
        ((int32_t *)data)[k] = (int32_t)(k % 10);
      } else {
        ((float *)data)[k] = (float)((k * 7 + (int64_t)i) % 13) / 13.0f;
      }
    }
  }
}

static MSModelHandle built_model(const char *path, bool keep_gradients) {
  MSContextHandle context = cpu();
  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  CHECK(MSTrainCfgGetKeepGradients(cfg));
  MSTrainCfgSetKeepGradients(cfg, keep_gradients);
  CHECK(MSTrainCfgGetKeepGradients(cfg) == keep_gradients);
  MSModelHandle model = MSModelCreate();
  CHECK(MSTrainModelBuildFromFile(model, path, kMSModelTypeMindIR, context, cfg) == kMSStatusSuccess);
  MSTrainCfgDestroy(&cfg); /* stays the caller's; the context does not */
  CHECK(!MSModelGetTrainMode(model));
  return model;
}

static MSModelHandle trained_model(const char *path) { return built_model(path, true); }

static void train(MSModelHandle model, int steps, float *losses) {
  CHECK(MSModelSetTrainMode(model, true) == kMSStatusSuccess && MSModelGetTrainMode(model));
  fill(model);
  for (int i = 0; i < steps; ++i) {
    CHECK(MSRunStep(model, count, NULL) == kMSStatusSuccess);
    const MSTensorHandleArray outputs = MSModelGetOutputs(model);
    CHECK(outputs.handle_num == 1 && MSTensorGetElementNum(outputs.handle_list[0]) == 1);
    losses[i] = *(const float *)MSTensorGetData(outputs.handle_list[0]);
  }
}

/* Whether both models infer the same. */
static bool agree(MSModelHandle a, MSModelHandle b) {
  MSTensorHandleArray outputs[2] = {{0, NULL}, {0, NULL}};
  MSModelHandle models[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    fill(models[i]);
    CHECK(MSModelPredict(models[i], MSModelGetInputs(models[i]), &outputs[i], NULL, NULL) == kMSStatusSuccess);
  }
  MSTensorHandle first = outputs[0].handle_list[0];
  MSTensorHandle second = outputs[1].handle_list[0];
  CHECK(MSTensorGetElementNum(first) > 1 && MSTensorGetDataSize(first) == MSTensorGetDataSize(second));
  return memcmp(MSTensorGetData(first), MSTensorGetData(second), MSTensorGetDataSize(first)) == 0;
}

static void refusals(const char *training, const char *inference) {
  CHECK(MSRunStep(NULL, NULL, NULL) == kMSStatusLiteNullptr);
  CHECK(MSModelSetTrainMode(NULL, true) == kMSStatusLiteNullptr && !MSModelGetTrainMode(NULL));
  CHECK(MSModelSetLearningRate(NULL, 1.0f) == kMSStatusLiteNullptr && MSModelGetLearningRate(NULL) == 0.0f);
  CHECK(MSModelSetupVirtualBatch(NULL, 2, -1.0f, -1.0f) == kMSStatusLiteNullptr);
  CHECK(MSModelGetWeights(NULL).handle_num == 0);
  CHECK(MSExportModel(NULL, kMSModelTypeMindIR, "x", kMSNO_QUANT, true, NULL, 0) == kMSStatusLiteNullptr);

  MSContextHandle context = cpu();
  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  MSModelHandle model = MSModelCreate();
  CHECK(MSTrainModelBuildFromFile(NULL, training, kMSModelTypeMindIR, context, cfg) == kMSStatusLiteNullptr);
  CHECK(MSTrainModelBuildFromFile(model, NULL, kMSModelTypeMindIR, context, cfg) == kMSStatusLiteNullptr);
  CHECK(MSTrainModelBuildFromFile(model, training, kMSModelTypeMindIR, NULL, cfg) == kMSStatusLiteNullptr);
  CHECK(MSTrainModelBuildFromFile(model, training, kMSModelTypeMindIR, context, NULL) == kMSStatusLiteNullptr);
  CHECK(MSTrainModelBuildFromFile(model, training, kMSModelTypeInvalid, context, cfg) == kMSStatusLiteParamInvalid);
  CHECK(MSTrainModelBuildFromFile(model, inference, kMSModelTypeMindIR, context, cfg) == kMSStatusLiteGraphFileError);
  CHECK(MSTrainModelBuild(model, NULL, 0, kMSModelTypeMindIR, context, cfg) == kMSStatusLiteNullptr);
  CHECK(MSTrainModelBuild(model, "no model", 8, kMSModelTypeMindIR, context, cfg) != kMSStatusSuccess);
  CHECK(MSRunStep(model, NULL, NULL) == kMSStatusLiteUninitializedObj);

  /* After all that the model can be built still, here for inference, which does not train. */
  CHECK(MSModelBuildFromFile(model, training, kMSModelTypeMindIR, context) == kMSStatusSuccess);
  CHECK(MSModelSetTrainMode(model, true) == kMSStatusLiteNotSupport && !MSModelGetTrainMode(model));
  CHECK(MSModelSetLearningRate(model, 0.1f) == kMSStatusLiteNotSupport);
  CHECK(MSModelSetupVirtualBatch(model, 2, -1.0f, -1.0f) == kMSStatusLiteNotSupport);
  CHECK(MSModelGetWeights(model).handle_num == 0);
  char *bytes = (char *)1;
  size_t size = 1;
  CHECK(MSExportModelBuffer(model, kMSModelTypeMindIR, &bytes, &size, kMSNO_QUANT, true, NULL, 0) ==
        kMSStatusLiteNotSupport);
  CHECK(bytes == NULL && size == 0);
  MSTrainCfgDestroy(&cfg);
  MSModelDestroy(&model);
}

static void checkpoints(const char *training, const char *folder) {
  char state[512], trained[512];
  snprintf(state, sizeof state, "%s/state.ms", folder);
  snprintf(trained, sizeof trained, "%s/trained", folder);

  MSModelHandle model = trained_model(training);
  const float rate = MSModelGetLearningRate(model) * 2.0f;
  CHECK(rate > 0.0f && MSModelSetLearningRate(model, rate) == kMSStatusSuccess &&
        MSModelGetLearningRate(model) == rate);
  CHECK(MSModelSetLearningRate(model, -1.0f) == kMSStatusLiteParamInvalid);
  float losses[kSteps];
  train(model, kFirst, losses);
  CHECK(nodes > kFirst);
  CHECK(MSExportModel(model, kMSModelTypeMindIR, state, kMSNO_QUANT, false, NULL, 0) == kMSStatusSuccess);
  CHECK(MSExportModel(model, kMSModelTypeMindIR, state, kMSFULL_QUANT, false, NULL, 0) == kMSStatusLiteNotSupport);
  CHECK(MSExportModel(model, kMSModelTypeInvalid, state, kMSNO_QUANT, false, NULL, 0) == kMSStatusLiteNotSupport);
  CHECK(MSExportModel(model, kMSModelTypeMindIR, state, kMSNO_QUANT, true, NULL, 1) == kMSStatusLiteNullptr);
  char *names[] = {"there is none"};
  CHECK(MSExportModel(model, kMSModelTypeMindIR, trained, kMSNO_QUANT, true, names, 1) == kMSStatusLiteParamInvalid);
  char *bytes = NULL;
  size_t size = 0;
  CHECK(MSExportModelBuffer(model, kMSModelTypeMindIR, &bytes, &size, kMSNO_QUANT, false, NULL, 0) == kMSStatusSuccess);
  CHECK(bytes != NULL && size > 0);
  CHECK(MSExportWeightsCollaborateWithMicro(model, kMSModelTypeMindIR, trained, false, false, NULL, 0) ==
        kMSStatusLiteNotSupport);
  CHECK(MSExportWeightsCollaborateWithMicro(model, kMSModelTypeMindIR, "/no/such/folder/net0.bin", true, false, NULL,
                                            0) == kMSStatusLiteFileError);
  train(model, kSteps - kFirst, losses + kFirst);
  printf("losses");
  for (int i = 0; i < kSteps; ++i) printf(" %.9g", (double)losses[i]);
  printf("\n");

  /* The file and the bytes go on alike, with the learning rate that was set. */
  MSModelHandle again = trained_model(state);
  CHECK(MSModelGetLearningRate(again) == rate);
  MSModelHandle of_bytes = MSModelCreate();
  MSContextHandle context = cpu();
  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  CHECK(MSTrainModelBuild(of_bytes, bytes, size, kMSModelTypeMindIR, context, cfg) == kMSStatusSuccess);
  MSTrainCfgDestroy(&cfg);
  free(bytes);
  MSModelHandle others[] = {again, of_bytes};
  for (int i = 0; i < 2; ++i) {
    float rest[kSteps - kFirst];
    train(others[i], kSteps - kFirst, rest);
    CHECK(memcmp(rest, losses + kFirst, sizeof rest) == 0);
    CHECK(MSModelSetTrainMode(others[i], false) == kMSStatusSuccess);
  }

  /* The part for inference computes what evaluation does. */
  CHECK(MSModelSetTrainMode(model, false) == kMSStatusSuccess);
  CHECK(agree(model, again) && agree(model, of_bytes));
  CHECK(MSExportModel(model, kMSModelTypeMindIR, trained, kMSNO_QUANT, true, NULL, 0) == kMSStatusSuccess);
  MSModelHandle inference = MSModelCreate();
  strcat(trained, ".ms");
  CHECK(MSModelBuildFromFile(inference, trained, kMSModelTypeMindIR, cpu()) == kMSStatusSuccess);
  CHECK(agree(model, inference));
  MSModelDestroy(&inference);
  MSModelDestroy(&again);
  MSModelDestroy(&of_bytes);
  MSModelDestroy(&model);
}

/* The same losses where each gradient gives up its memory when its weight has been updated. */
static void gradients(const char *training) {
  MSTrainCfgSetKeepGradients(NULL, false);
  CHECK(MSTrainCfgGetKeepGradients(NULL));
  MSModelHandle keeps = built_model(training, true);
  MSModelHandle gives_up = built_model(training, false);
  float expected[kSteps], losses[kSteps];
  train(keeps, kSteps, expected);
  train(gives_up, kSteps, losses);
  CHECK(memcmp(losses, expected, sizeof losses) == 0);
  MSModelDestroy(&keeps);
  MSModelDestroy(&gives_up);
}

static void weights(const char *training) {
  MSModelHandle model = trained_model(training);
  MSModelHandle other = trained_model(training);
  float loss[kSteps];
  train(model, kSteps, loss);
  CHECK(MSModelSetTrainMode(model, false) == kMSStatusSuccess);
  CHECK(!agree(model, other));
  const MSTensorHandleArray found = MSModelGetWeights(model);
  CHECK(found.handle_num > 1);
  const MSTensorHandle output = MSModelGetOutputs(other).handle_list[0];
  CHECK(MSModelUpdateWeights(other, found) == kMSStatusSuccess);
  CHECK(MSModelGetOutputs(other).handle_list[0] == output); /* handles stay */
  CHECK(agree(model, other));
  MSTensorHandle odd = MSTensorClone(found.handle_list[0]);
  MSTensorSetName(odd, "there is none");
  const MSTensorHandleArray unknown = {1, &odd};
  CHECK(MSModelUpdateWeights(other, unknown) == kMSStatusLiteParamInvalid);
  MSTensorDestroy(&odd);

  /* Two batches to an update: the second loss is that of the same weights as the first. */
  CHECK(MSModelSetupVirtualBatch(model, 2, -1.0f, -1.0f) == kMSStatusSuccess);
  train(model, 3, loss);
  CHECK(loss[0] == loss[1] && loss[1] != loss[2]);
  MSModelDestroy(&other);
  MSModelDestroy(&model);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  refusals(argv[1], argv[2]);
  checkpoints(argv[1], argv[3]);
  gradients(argv[1]);
  weights(argv[1]);
  return 0;
}
