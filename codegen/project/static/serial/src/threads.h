/* Models of this project run on one thread. */
#ifndef THREADS_H_
#define THREADS_H_

#include "context.h"

static inline bool MicroThreadsCreate(void **threads, const MSContextHandle context) {
  (void)context;
  *threads = NULL;
  return true;
}

static inline void MicroThreadsDestroy(void *threads) { (void)threads; }

#endif /* THREADS_H_ */
