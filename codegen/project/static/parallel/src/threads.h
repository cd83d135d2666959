/* The threads of a model that was built for several: MSContextSetThreadNum, at most MSLITE_MAXIMUM_THREADS. */
#ifndef THREADS_H_
#define THREADS_H_

#include <stdbool.h>

#include "context.h"

/* `*threads` becomes an mslite_threads for the run, or NULL where the context asks for one thread. False: the threads
 * cannot be started. */
bool MicroThreadsCreate(void **threads, const MSContextHandle context);

/* Waits for them to end; NULL is ignored. */
void MicroThreadsDestroy(void *threads);

#endif /* THREADS_H_ */
