#include "platform.h"

int ReadExactly(const char *path, void *data, size_t size) {
#if defined(TEST_ON_BOARD)
  return board_read_file(path, data, size) == (int32_t)size ? 0 : -1;
#else
  FILE *file = fopen(path, "rb");
  if (file == NULL) return -1;
  const size_t got = fread(data, 1, size, file);
  const int more = fgetc(file) != EOF;
  fclose(file);
  return got == size && !more ? 0 : -1;
#endif
}
