/* Functions for programs on an emulated or debugged microcontroller: output and exit by semihosting, and marks between
 * which QEMU counts instructions. Programs on a real board without a debugger do not need them. */
#ifndef BOARD_H_
#define BOARD_H_

#include <stddef.h>
#include <stdint.h>

/* Supports %s %c %d %u %x %ld %lu %%, without width or precision. */
void board_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the emulator with this exit status. Returning from `main` does the same. */
void board_exit(int status) __attribute__((noreturn));

/* Reads up to `size` bytes of a file on the host into `data`. Returns the number of bytes read, or -1 if there is no
 * such file. */
int32_t board_read_file(const char *path, void *data, size_t size);

/* QEMU's counting plugin counts the instructions between these calls. Each pair of calls is one region. */
void board_count_begin(void);
void board_count_end(void);

/* `board_stack_used` returns the largest number of bytes of stack in use since `board_stack_mark`. */
void board_stack_mark(void);
size_t board_stack_used(void);

#endif /* BOARD_H_ */
