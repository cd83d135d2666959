#ifndef LOAD_INPUT_H_
#define LOAD_INPUT_H_

#include <stddef.h>

/* Reads a whole file into memory from malloc and sets `size`. Prints the reason and returns NULL if that fails. */
void *ReadFile(const char *path, size_t *size);

/* Fills `count` buffers with the contents of files; `paths` is separated by commas. Returns 0, or prints the reason and
 * returns -1. */
int ReadInputs(const char *paths, size_t count, void *const buffers[], const size_t sizes[]);

#endif /* LOAD_INPUT_H_ */
