#include "context.h"

/* Models on microcontrollers need no context. This one is for programs that create a context in any case. */
static MicroContext the_context = {.thread_num = 1};

MSContextHandle MSContextCreate(void) { return &the_context; }

void MSContextDestroy(MSContextHandle *context) {
  if (context != NULL) *context = NULL;
}
