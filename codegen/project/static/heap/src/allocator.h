/* One run buffer for all models: as large as the largest of them needs, lent to one run at a time. */
#ifndef ALLOCATOR_H_
#define ALLOCATOR_H_

#include <stdbool.h>
#include <stddef.h>

/* Memory from malloc at a multiple of 64; `*block` is what to free. NULL when there is none. */
void *MicroAllocateAligned(size_t size, void **block);

/* A model that needs `size` bytes is there; false when memory is short. */
bool MicroArenaJoin(size_t size);
/* One that joined has gone; the last frees the buffer. */
void MicroArenaLeave(void);

/* The buffer, for one run at a time: waits for the run that has it. */
void *MicroArenaTake(void);
void MicroArenaGiveBack(void);

#endif /* ALLOCATOR_H_ */
