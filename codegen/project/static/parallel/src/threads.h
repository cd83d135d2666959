/* The thread pool of a model. The number of threads is set by MSContextSetThreadNum, at most MSLITE_MAXIMUM_THREADS. */
#ifndef THREADS_H_
#define THREADS_H_

#include <stdbool.h>

#include "context.h"

/* Starts the threads and sets `*threads` to an mslite_threads for model<i>_run, or to NULL for one thread. Returns
 * false if threads cannot be started. */
bool MicroThreadsCreate(void **threads, const MSContextHandle context);

/* Stops the threads and waits until they have ended. NULL is ignored. */
void MicroThreadsDestroy(void *threads);

#endif /* THREADS_H_ */
