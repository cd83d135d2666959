#include "load_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *ReadFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    printf("%s: cannot be opened\n", path);
    return NULL;
  }
  long length = -1;
  if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  void *data = length < 0 ? NULL : malloc((size_t)length + 1);
  if (data != NULL) {
    rewind(file);
    *size = fread(data, 1, (size_t)length, file);
    if (*size != (size_t)length) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  if (data == NULL) printf("%s: cannot be read\n", path);
  return data;
}

static int ReadInput(const char *path, void *buffer, size_t wanted) {
  size_t size = 0;
  void *data = ReadFile(path, &size);
  if (data == NULL) return -1;
  const int fits = size == wanted;
  if (fits) memcpy(buffer, data, size);
  if (!fits) printf("%s: has %lu bytes, the input has %lu\n", path, (unsigned long)size, (unsigned long)wanted);
  free(data);
  return fits ? 0 : -1;
}

int ReadInputs(const char *paths, size_t count, void *const buffers[], const size_t sizes[]) {
  const char *at = paths;
  for (size_t i = 0; i < count; ++i) {
    char path[1024];
    const char *comma = strchr(at, ',');
    const size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);
    if (length == 0 || length >= sizeof path) {
      printf("inputs: %lu files are needed, separated by commas\n", (unsigned long)count);
      return -1;
    }
    memcpy(path, at, length);
    path[length] = '\0';
    printf("input %lu: %s\n", (unsigned long)i, path);
    if (ReadInput(path, buffers[i], sizes[i]) != 0) return -1;
    at += length + (comma != NULL);
  }
  if (*at != '\0') {
    printf("inputs: more files than the %lu inputs\n", (unsigned long)count);
    return -1;
  }
  return 0;
}
