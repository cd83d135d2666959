#if defined(__linux__)
#define _GNU_SOURCE /* affinity */
#endif
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include "parallel.h"

typedef struct Pool Pool;

typedef struct {
  Pool *pool;
  int number; /* from 1; the caller is thread 0 */
  pthread_t thread;
} Worker;

struct Pool {
  mslite_threads threads; /* must be first: model<i>_run gets a pointer to it */
  pthread_mutex_t mutex;
  pthread_cond_t begin, end;
  void (*task)(void *context, int thread);
  void *context;
  unsigned launches; /* number of launches; a worker that has done fewer has work */
  int busy;          /* number of workers that have not finished the latest launch */
  bool stop;
  int started;
  Worker workers[MSLITE_MAXIMUM_THREADS];
};

static void *Work(void *argument) {
  const Worker *worker = argument;
  Pool *pool = worker->pool;
  unsigned done = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (pool->launches == done && !pool->stop) pthread_cond_wait(&pool->begin, &pool->mutex);
    if (pool->launches == done) break;
    done = pool->launches;
    pthread_mutex_unlock(&pool->mutex);
    pool->task(pool->context, worker->number);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->busy == 0) pthread_cond_signal(&pool->end);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

static void Launch(void *argument, void (*task)(void *context, int thread), void *context) {
  Pool *pool = argument;
  pthread_mutex_lock(&pool->mutex);
  pool->task = task;
  pool->context = context;
  pool->busy = pool->started;
  ++pool->launches;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->mutex);
  task(context, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->busy > 0) pthread_cond_wait(&pool->end, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

/* Binds each worker to a core of the context's list, if the system supports it. */
static void Bind(const Pool *pool, const MicroContext *context) {
#if defined(__linux__)
  for (int i = 0; i < pool->started && context->core_num > 0; ++i) {
    const int32_t core = context->cores[(size_t)(i + 1) % context->core_num];
    if (core < 0 || core >= CPU_SETSIZE) continue;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    (void)pthread_setaffinity_np(pool->workers[i].thread, sizeof set, &set);
  }
#else
  (void)pool, (void)context;
#endif
}

bool MicroThreadsCreate(void **threads, const MSContextHandle context) {
  *threads = NULL;
  int count = context == NULL ? 1 : (int)MSContextGetThreadNum(context);
  if (count > MSLITE_MAXIMUM_THREADS) count = MSLITE_MAXIMUM_THREADS;
  if (count <= 1) return true;
  Pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return false;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->begin, NULL);
  pthread_cond_init(&pool->end, NULL);
  pool->threads.launch = Launch;
  pool->threads.pool = pool;
  pool->threads.count = count;
  for (; pool->started < count - 1; ++pool->started) {
    Worker *worker = &pool->workers[pool->started];
    worker->pool = pool;
    worker->number = pool->started + 1;
    if (pthread_create(&worker->thread, NULL, Work, worker) != 0) {
      MicroThreadsDestroy(pool);
      return false;
    }
  }
  Bind(pool, context);
  *threads = pool;
  return true;
}

void MicroThreadsDestroy(void *threads) {
  Pool *pool = threads;
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->mutex);
  pool->stop = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->end);
  pthread_cond_destroy(&pool->begin);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}
