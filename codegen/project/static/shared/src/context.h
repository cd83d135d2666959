/* Settings of a context. A model reads them when it is built; the caller keeps and destroys the context. */
#ifndef CONTEXT_H_
#define CONTEXT_H_

#include "include/c_api/context_c.h"

#define MICRO_MAX_CORES 32

typedef struct MicroContext {
  int32_t thread_num;
  int affinity_mode;
  bool enable_parallel;
  size_t core_num;
  int32_t cores[MICRO_MAX_CORES];
} MicroContext;

#endif /* CONTEXT_H_ */
