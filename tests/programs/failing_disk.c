/* A disk that is full from some call on, for files below $FAILING_FOLDER. Loaded before the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls_left = -1; /* negative: the disk is never full */
static long failures = 0;

/* Lets this many calls pass; those after them fail. */
void disk_fails_after(long calls) { calls_left = calls; }

/* How many calls have failed. */
long disk_failures(void) { return failures; }

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("FAILING_AFTER");
  if (text != NULL) calls_left = atol(text);
}

static int fails(const char *path) {
  const char *folder = getenv("FAILING_FOLDER");
  if (calls_left < 0 || folder == NULL || strncmp(path, folder, strlen(folder)) != 0) return 0;
  if (calls_left > 0) {
    --calls_left;
    return 0;
  }
  ++failures;
  errno = ENOSPC;
  return 1;
}

static int file_fails(int file) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return fails(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size) { return file_fails(file) ? -1 : REAL(write)(file, data, size); }

ssize_t writev(int file, const struct iovec *pieces, int count) {
  return file_fails(file) ? -1 : REAL(writev)(file, pieces, count);
}

int fsync(int file) { return file_fails(file) ? -1 : REAL(fsync)(file); }

int mkdir(const char *path, mode_t mode) { return fails(path) ? -1 : REAL(mkdir)(path, mode); }

#define OPEN(name)                                   \
  int name(const char *path, int flags, ...) {       \
    va_list more;                                    \
    va_start(more, flags);                           \
    const mode_t mode = va_arg(more, mode_t);        \
    va_end(more);                                    \
    if ((flags & O_CREAT) && fails(path)) return -1; \
    return REAL(name)(path, flags, mode);            \
  }
OPEN(open)
OPEN(open64)
