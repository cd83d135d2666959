#include "allocator.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define ALIGNMENT 64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *arena_block;
static void *arena;
static size_t arena_size;
static size_t users;

void *MicroAllocateAligned(size_t size, void **block) {
  *block = size > SIZE_MAX - ALIGNMENT ? NULL : malloc(size + ALIGNMENT);
  if (*block == NULL) return NULL;
  const uintptr_t address = (uintptr_t)*block;
  return (char *)*block + (ALIGNMENT - address % ALIGNMENT);
}

bool MicroArenaJoin(size_t size) {
  pthread_mutex_lock(&mutex);
  bool enough = true;
  if (size > arena_size || arena == NULL) {
    void *block;
    void *larger = MicroAllocateAligned(size, &block);
    enough = larger != NULL;
    if (enough) {
      free(arena_block);
      arena_block = block;
      arena = larger;
      arena_size = size;
    }
  }
  if (enough) ++users;
  pthread_mutex_unlock(&mutex);
  return enough;
}

void MicroArenaLeave(void) {
  pthread_mutex_lock(&mutex);
  if (users > 0 && --users == 0) {
    free(arena_block);
    arena_block = NULL;
    arena = NULL;
    arena_size = 0;
  }
  pthread_mutex_unlock(&mutex);
}

void *MicroArenaTake(void) {
  pthread_mutex_lock(&mutex);
  return arena;
}

void MicroArenaGiveBack(void) { pthread_mutex_unlock(&mutex); }
