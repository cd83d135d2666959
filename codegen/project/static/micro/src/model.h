/* The MSModel object of a model: a static object, defined in model<i>.c. There is no heap: the caller provides the
 * memory with MSModelSetWorkspace. */
#ifndef MODEL_H_
#define MODEL_H_

#include <stdbool.h>

#include "include/c_api/model_c.h"
#include "tensor.h"

/* Constant properties of a model, in flash. */
typedef struct MicroModelInfo {
  size_t workspace_size;
  size_t alignment;
  const size_t *input_offsets; /* in the workspace */
  const size_t *output_offsets;
  int (*run)(const MSTensorHandle inputs[], const MSTensorHandle outputs[], unsigned char *workspace);
  void (*reset)(void *arena); /* sets variables to their initial values; NULL: there are none */
} MicroModelInfo;

typedef struct MicroModel {
  const MicroModelInfo *info;
  MSTensorHandleArray inputs, outputs;
  unsigned char *workspace;
  bool built;
} MicroModel;

/* Runs a model. The tensors must have the sizes of the model's. Returns the result of model<i>_run: 0, or an error
 * code. */
int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]);

#endif /* MODEL_H_ */
