/* A model behind a handle: one static object for each, filled in by model<i>.c. There is no heap: memory is the block
 * that the caller gives by MSModelSetWorkspace. */
#ifndef MODEL_H_
#define MODEL_H_

#include <stdbool.h>

#include "include/c_api/model_c.h"
#include "tensor.h"

/* What never changes, in flash. */
typedef struct MicroModelInfo {
  size_t workspace_size;
  size_t alignment;
  const size_t *input_offsets; /* in the workspace */
  const size_t *output_offsets;
  int (*run)(const MSTensorHandle inputs[], const MSTensorHandle outputs[], unsigned char *workspace);
  void (*reset)(void *arena); /* gives variables their first values; NULL: there are none */
} MicroModelInfo;

typedef struct MicroModel {
  const MicroModelInfo *info;
  MSTensorHandleArray inputs, outputs;
  unsigned char *workspace;
  bool built;
} MicroModel;

/* A run with tensors that fit the model's; 0, or what the core's run returns. */
int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]);

#endif /* MODEL_H_ */
