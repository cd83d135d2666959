/* The arena that all models share. Its size is that of the largest model, and one run uses it at a time. */
#ifndef ALLOCATOR_H_
#define ALLOCATOR_H_

#include <stdbool.h>
#include <stddef.h>

/* Returns memory from malloc at a multiple of 64, or NULL if there is none. Free `*block`, not the result. */
void *MicroAllocateAligned(size_t size, void **block);

/* Registers a model that needs an arena of `size` bytes. Returns false if there is not enough memory. */
bool MicroArenaJoin(size_t size);
/* Unregisters a model. The last one frees the arena. */
void MicroArenaLeave(void);

/* Locks and returns the arena; waits while another run uses it. MicroArenaGiveBack unlocks it. */
void *MicroArenaTake(void);
void MicroArenaGiveBack(void);

#endif /* ALLOCATOR_H_ */
