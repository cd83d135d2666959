/* The MSModel object of a model: a static object, defined in model<i>.c. */
#ifndef MODEL_H_
#define MODEL_H_

#include <stdbool.h>

#include "include/c_api/model_c.h"
#include "tensor.h"

typedef struct MicroModel MicroModel;

/* Constant properties of a model. */
typedef struct MicroModelInfo {
  size_t arena_size;
  size_t weights_size; /* bytes of constants in memory; 0: they are part of the program */
  size_t file_size;    /* bytes of net<i>.bin; the constants in memory begin with its contents */
  /* Makes the constants in memory from a file. Returns 0 if the file is invalid. NULL: both are the same. */
  int (*load)(void *weights, const void *file, size_t size);
  bool keeps_state; /* the arena contains variables and is not shared with other models */
  int (*run)(const MicroModel *model, const void *const inputs[], void *const outputs[], void *arena);
  void (*reset)(const MicroModel *model); /* sets variables to their initial values; NULL: there are none */
  /* Selects the shapes in input_data (int64_t). Returns false if the model was not generated for them. NULL: shapes are
   * fixed. */
  bool (*reshape)(MicroModel *model);
} MicroModelInfo;

struct MicroModel {
  const MicroModelInfo *info;
  MSTensorHandleArray inputs, outputs;
  const void **input_data; /* pointers for a run, one for each input */
  void **output_data;
  void *weights, *weights_block;
  void *arena, *arena_block; /* NULL if the model uses the shared arena */
  void *threads;             /* thread pool, or NULL */
  int shapes;                /* index of the current shapes */
  bool built;
};

/* Runs a model. The tensors must have the sizes of the model's. Returns the result of model<i>_run: 0, or an error
 * code. */
int MicroModelRun(MicroModel *model, const MSTensorHandle inputs[], const MSTensorHandle outputs[]);

#endif /* MODEL_H_ */
