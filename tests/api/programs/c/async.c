/* async MODEL.ms: requests with handles, one of which is canceled while it waits. */
#include <pthread.h>
#include <stdio.h>

#include "include/c_api/model_c.h"

typedef struct {
  pthread_mutex_t *gate; /* `done` waits for it */
  int calls;
  MSStatus status;
} Told;

static void tell(MSStatus status, void *user_data) {
  Told *told = user_data;
  if (told->gate != NULL) {
    pthread_mutex_lock(told->gate);
    pthread_mutex_unlock(told->gate);
  }
  told->status = status;
  ++told->calls;
}

static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  if (MSModelBuildFromFile(model, argv[1], kMSModelTypeMindIR, context) != kMSStatusSuccess) return fail("build");
  MSTensorHandleArray inputs = MSModelGetInputs(model);
  float *values = MSTensorGetMutableData(inputs.handle_list[0]);
  for (int64_t i = 0; i < MSTensorGetElementNum(inputs.handle_list[0]); ++i) values[i] = 0.5f;

  /* The thread of the model stays in the first request's `done` until the gate opens. */
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  MSTensorHandleArray outputs[3] = {{0, NULL}, {0, NULL}, {0, NULL}};
  Told first = {&gate, 0, kMSStatusCoreFailed}, second = {NULL, 0, kMSStatusSuccess};
  MSAsyncRunHandle runs[3] = {NULL, NULL, NULL};
  if (MSModelStartPredict(model, inputs, &outputs[0], tell, &first, &runs[0]) != kMSStatusSuccess) return fail("first");
  if (MSModelStartPredict(model, inputs, &outputs[1], tell, &second, &runs[1]) != kMSStatusSuccess)
    return fail("second");
  if (MSModelStartPredict(model, inputs, &outputs[2], NULL, NULL, &runs[2]) != kMSStatusSuccess) return fail("third");
  if (MSAsyncRunIsDone(runs[0]) || MSAsyncRunIsDone(runs[1]) || MSAsyncRunIsDone(runs[2])) return fail("too early");

  if (!MSAsyncRunCancel(runs[1])) return fail("it does not wait");
  if (second.calls != 1 || second.status != kMSStatusLiteServiceDeny) return fail("who cancels tells");
  if (!MSAsyncRunIsDone(runs[1]) || MSAsyncRunWait(runs[1]) != kMSStatusLiteServiceDeny) return fail("canceled");
  if (MSAsyncRunCancel(runs[1])) return fail("canceled twice");
  if (outputs[1].handle_num != 0) return fail("outputs of what never ran");
  if (first.calls != 0 || MSAsyncRunIsDone(runs[0]) || MSAsyncRunIsDone(runs[2])) return fail("another one has ended");

  pthread_mutex_unlock(&gate);
  if (MSAsyncRunWait(runs[0]) != kMSStatusSuccess || first.calls != 1 || first.status != kMSStatusSuccess)
    return fail("the first one");
  if (MSAsyncRunWait(runs[2]) != kMSStatusSuccess || MSAsyncRunCancel(runs[2])) return fail("the third one");
  for (int i = 0; i < 3; ++i) {
    MSAsyncRunDestroy(&runs[i]);
    if (runs[i] != NULL) return fail("the handle stays");
  }
  for (size_t i = 0; i < outputs[2].handle_num; ++i) {
    const float *data = MSTensorGetData(outputs[2].handle_list[i]);
    printf("%s", MSTensorGetName(outputs[2].handle_list[i]));
    for (int64_t k = 0; k < MSTensorGetElementNum(outputs[2].handle_list[i]); ++k) printf(" %.9g", (double)data[k]);
    printf("\n");
  }

  runs[0] = &gate;
  if (MSModelStartPredict(NULL, inputs, &outputs[0], tell, &first, &runs[0]) != kMSStatusLiteNullptr || runs[0] != NULL)
    return fail("no model");
  if (MSModelStartPredict(model, inputs, &outputs[0], tell, &first, NULL) != kMSStatusLiteNullptr)
    return fail("no place");
  if (first.calls != 1) return fail("told of what has not begun");
  if (MSAsyncRunWait(NULL) != kMSStatusLiteNullptr || MSAsyncRunCancel(NULL) || !MSAsyncRunIsDone(NULL))
    return fail("no handle");
  MSModelDestroy(&model);
  return 0;
}
