#include "context.h"

/* A microcontroller has one thread, and a model built there needs no context: this one is for programs that make one
 * nevertheless. */
static MicroContext the_context = {.thread_num = 1};

MSContextHandle MSContextCreate(void) { return &the_context; }

void MSContextDestroy(MSContextHandle *context) {
  if (context != NULL) *context = NULL;
}
