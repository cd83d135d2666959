/* Output, files and exit by Arm semihosting (operation numbers: Arm IHI 0100). */
#include <stdarg.h>
#include <string.h>

#include "board.h"

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE0 = 0x04, SYS_READ = 0x06, SYS_EXIT_EXTENDED = 0x20 };
enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026, OPEN_READ_BINARY = 1 };

static uintptr_t Call(uintptr_t operation, const void *argument) {
  register uintptr_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void board_exit(int status) {
  const uintptr_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uintptr_t)status};
  for (;;) Call(SYS_EXIT_EXTENDED, block);
}

int32_t board_read_file(const char *path, void *data, size_t size) {
  const uintptr_t name[3] = {(uintptr_t)path, OPEN_READ_BINARY, strlen(path)};
  const uintptr_t file = Call(SYS_OPEN, name);
  if (file == (uintptr_t)-1) return -1;
  const uintptr_t request[3] = {file, (uintptr_t)data, size};
  const uintptr_t missing = Call(SYS_READ, request);
  Call(SYS_CLOSE, &file);
  return (int32_t)(size - missing);
}

typedef struct {
  char text[80];
  size_t length;
} Line;

static void Flush(Line *line) {
  line->text[line->length] = '\0';
  Call(SYS_WRITE0, line->text);
  line->length = 0;
}

static void Put(Line *line, char c) {
  if (line->length == sizeof line->text - 1) Flush(line);
  line->text[line->length++] = c;
}

static void PutNumber(Line *line, unsigned long value, unsigned base) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  while (count > 0) Put(line, digits[--count]);
}

void board_printf(const char *format, ...) {
  Line line = {.length = 0};
  va_list arguments;
  va_start(arguments, format);
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      Put(&line, *format);
      continue;
    }
    int is_long = *++format == 'l';
    if (is_long) ++format;
    switch (*format) {
      case 's':
        for (const char *s = va_arg(arguments, const char *); *s != '\0'; ++s) Put(&line, *s);
        break;
      case 'c':
        Put(&line, (char)va_arg(arguments, int));
        break;
      case 'd': {
        const long value = is_long ? va_arg(arguments, long) : va_arg(arguments, int);
        if (value < 0) Put(&line, '-');
        PutNumber(&line, value < 0 ? 0ul - (unsigned long)value : (unsigned long)value, 10);
        break;
      }
      case 'u':
      case 'x':
        PutNumber(&line, is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                  *format == 'x' ? 16u : 10u);
        break;
      default:
        Put(&line, *format);
    }
  }
  va_end(arguments);
  Flush(&line);
}
