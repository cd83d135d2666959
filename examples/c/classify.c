/* classify MODEL.ms [INPUT.bin]: builds a model from a file, fills its inputs (from raw bytes, or with ones), runs it
   on a thread of the library and prints the largest value of the first output. Plain C99; the names are MindSpore
   Lite's but for MSModelPredictAsync. */
#include <stdio.h>
#include <string.h>

#include "include/c_api/context_c.h"
#include "include/c_api/model_c.h"
#include "include/c_api/tensor_c.h"

/* Called when the run has ended. The outputs are valid until it returns. */
typedef struct {
  MSTensorHandleArray outputs;
  int64_t best;
  float value;
  MSStatus status;
} Result;

static void done(MSStatus status, void *user_data) {
  Result *result = user_data;
  result->status = status;
  if (status != kMSStatusSuccess) return;
  MSTensorHandle output = result->outputs.handle_list[0];
  const float *values = MSTensorGetData(output);
  for (int64_t i = 0; i < MSTensorGetElementNum(output); ++i) {
    if (i == 0 || values[i] > result->value) {
      result->best = i;
      result->value = values[i];
    }
  }
}

static int fill(MSTensorHandle input, const char *path) {
  const size_t size = MSTensorGetDataSize(input);
  void *data = MSTensorGetMutableData(input);
  if (data == NULL) {
    fprintf(stderr, "the shape of '%s' is not fixed: call MSModelResize first\n", MSTensorGetName(input));
    return 0;
  }
  if (path == NULL) {
    if (MSTensorGetDataType(input) != kMSDataTypeNumberTypeFloat32) return 1; /* zeros */
    for (int64_t i = 0; i < MSTensorGetElementNum(input); ++i) ((float *)data)[i] = 1.0f;
    return 1;
  }
  FILE *file = fopen(path, "rb");
  const int ok = file != NULL && fread(data, 1, size, file) == size;
  if (file != NULL) fclose(file);
  if (!ok) fprintf(stderr, "'%s' does not have the %lu bytes of the input\n", path, (unsigned long)size);
  return ok;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: classify MODEL.ms [INPUT.bin]\n");
    return 2;
  }
  MSContextHandle context = MSContextCreate();
  MSContextSetThreadNum(context, 2);
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU)); /* the context's from now on */
  MSModelHandle model = MSModelCreate();
  MSStatus status = MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context);
  if (status != kMSStatusSuccess) {
    fprintf(stderr, "build failed: %d (GLOG_v=1 shows more)\n", (int)status);
    MSContextDestroy(&context); /* a build that fails leaves the context to its owner */
    MSModelDestroy(&model);
    return 1;
  }
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  for (size_t i = 0; i < inputs.handle_num; ++i) {
    if (!fill(inputs.handle_list[i], argc > 2 ? argv[2] : NULL)) {
      MSModelDestroy(&model);
      return 1;
    }
  }
  if (MSTensorGetDataType(MSModelGetOutputs(model).handle_list[0]) != kMSDataTypeNumberTypeFloat32) {
    fprintf(stderr, "the first output is not float32\n");
    MSModelDestroy(&model);
    return 1;
  }
  Result result = {{0, NULL}, 0, 0.0f, kMSStatusLiteError};
  MSModelPredictAsync(model, inputs, &result.outputs, done, &result);
  /* The program can do other work here. Destroying the model waits for its runs. */
  MSModelDestroy(&model);
  if (result.status != kMSStatusSuccess) {
    fprintf(stderr, "predict failed: %d\n", (int)result.status);
    return 1;
  }
  printf("class %ld: %g\n", (long)result.best, (double)result.value);
  return 0;
}
