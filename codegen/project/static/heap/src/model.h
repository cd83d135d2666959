/* A model behind a handle: one static object for each, filled in by model<i>.c. */
#ifndef MODEL_H_
#define MODEL_H_

#include <stdbool.h>

#include "include/c_api/model_c.h"
#include "tensor.h"

typedef struct MicroModel MicroModel;

/* What never changes. */
typedef struct MicroModelInfo {
  size_t arena_size;
  size_t weights_size; /* bytes of constants in memory; 0: they are part of the program */
  size_t file_size;    /* bytes of net<i>.bin, with which they begin */
  /* Makes the one of the other; 0: it cannot. NULL: they are the same. */
  int (*load)(void *weights, const void *file, size_t size);
  bool keeps_state; /* the arena holds variables: it is the model's own */
  int (*run)(const MicroModel *model, const void *const inputs[], void *const outputs[], void *arena);
  void (*reset)(const MicroModel *model); /* gives variables their first values; NULL: there are none */
  /* Takes the shapes of inputs that input_data points to (int64_t); false: the program was not generated for them.
   * NULL: shapes are fixed. */
  bool (*reshape)(MicroModel *model);
} MicroModelInfo;

struct MicroModel {
  const MicroModelInfo *info;
  MSTensorHandleArray inputs, outputs;
  const void **input_data; /* one for each input, for the run */
  void **output_data;
  void *weights, *weights_block;
  void *arena, *arena_block; /* only of a model that keeps state */
  void *threads;             /* the pool of a model built for several */
  int shapes;                /* the number of the shapes that it runs with */
  bool built;
};

/* A run with tensors that fit the model's; 0, or what the core's run returns. */
int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]);

#endif /* MODEL_H_ */
