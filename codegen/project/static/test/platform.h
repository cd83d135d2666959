/* Output, files and instruction counting for the tests, on a computer or on a board in an emulator or debugger. */
#ifndef PLATFORM_H_
#define PLATFORM_H_

#include <stddef.h>

#if defined(TEST_ON_BOARD)
#include "board.h"
#define Print board_printf
#define CountBegin board_count_begin
#define CountEnd board_count_end
#else
#include <stdio.h>
#define Print printf
#define CountBegin() ((void)0)
#define CountEnd() ((void)0)
#endif

/* Reads a file of exactly `size` bytes. Returns 0, or -1 if that fails. */
int ReadExactly(const char *path, void *data, size_t size);

#endif /* PLATFORM_H_ */
