#include "context.h"

#include <stdlib.h>

MSContextHandle MSContextCreate(void) {
  MicroContext *context = calloc(1, sizeof *context);
  if (context != NULL) context->thread_num = 1;
  return context;
}

void MSContextDestroy(MSContextHandle *context) {
  if (context == NULL) return;
  free(*context);
  *context = NULL;
}
