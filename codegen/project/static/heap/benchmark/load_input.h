#ifndef LOAD_INPUT_H_
#define LOAD_INPUT_H_

#include <stddef.h>

/* A whole file in memory from malloc, and its size; NULL, after saying why, when it cannot be read. */
void *ReadFile(const char *path, size_t *size);

/* Fills `count` buffers of the given sizes from the files in a list with commas. 0, or -1 after saying what is wrong.
 */
int ReadInputs(const char *paths, size_t count, void *const buffers[], const size_t sizes[]);

#endif /* LOAD_INPUT_H_ */
