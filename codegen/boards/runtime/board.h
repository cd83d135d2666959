/* What a program on an emulated or debugged microcontroller may call: output and exit by semihosting, and the marks
 * between which instructions are counted. Nothing here is needed on a real board without a debugger. */
#ifndef BOARD_H_
#define BOARD_H_

#include <stddef.h>
#include <stdint.h>

/* %s %c %d %u %x %ld %lu %%, no width or precision. */
void board_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the emulator with this exit status; `main` returning does the same. */
void board_exit(int status) __attribute__((noreturn));

/* Reads a whole file of the host into `data`; the number of bytes read, or -1 where there is no such file. */
int32_t board_read_file(const char *path, void *data, size_t size);

/* The instructions executed from the one to the other are counted, when the emulator has the counting plugin; each pair
 * makes one entry. */
void board_count_begin(void);
void board_count_end(void);

/* Bytes of stack that were used at most since `board_stack_mark`. */
void board_stack_mark(void);
size_t board_stack_used(void);

#endif /* BOARD_H_ */
