#include "calib_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double ElementOf(const void *data, MSDataType type, size_t index) {
  switch (type) {
    case kMSDataTypeNumberTypeBool:
    case kMSDataTypeNumberTypeUInt8:
      return ((const uint8_t *)data)[index];
    case kMSDataTypeNumberTypeInt8:
      return ((const int8_t *)data)[index];
    case kMSDataTypeNumberTypeInt16:
      return ((const int16_t *)data)[index];
    case kMSDataTypeNumberTypeInt32:
      return ((const int32_t *)data)[index];
    case kMSDataTypeNumberTypeInt64:
      return (double)((const int64_t *)data)[index];
    case kMSDataTypeNumberTypeFloat32:
      return (double)((const float *)data)[index];
    case kMSDataTypeNumberTypeFloat64:
      return ((const double *)data)[index];
    default:
      return 0;
  }
}

static MSTensorHandle FindOutput(MSTensorHandleArray outputs, const char *name, size_t position) {
  for (size_t i = 0; i < outputs.handle_num; ++i) {
    if (strcmp(MSTensorGetName(outputs.handle_list[i]), name) == 0) return outputs.handle_list[i];
  }
  /* Names in calibration files often come from another converter; then outputs are matched by position. */
  return position < outputs.handle_num ? outputs.handle_list[position] : NULL;
}

static int CompareOutput(FILE *file, MSTensorHandle output, double threshold) {
  const size_t count = (size_t)MSTensorGetElementNum(output);
  const void *data = MSTensorGetData(output);
  double product = 0, computed_square = 0, expected_square = 0;
  for (size_t i = 0; i < count; ++i) {
    double expected;
    if (fscanf(file, "%lf", &expected) != 1) {
      printf("calibration: output %s has fewer than %lu values\n", MSTensorGetName(output), (unsigned long)count);
      return -1;
    }
    const double computed = ElementOf(data, MSTensorGetDataType(output), i);
    product += computed * expected;
    computed_square += computed * computed;
    expected_square += expected * expected;
  }
  const double norm = sqrt(computed_square) * sqrt(expected_square);
  const double cosine = norm > 0 ? product / norm : (computed_square > 0) == (expected_square > 0);
  printf("output %s: cosine %.7f\n", MSTensorGetName(output), cosine);
  return cosine >= threshold ? 0 : -1;
}

int CompareOutputs(const char *path, MSTensorHandleArray outputs, double threshold) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    printf("%s: cannot be opened\n", path);
    return -1;
  }
  int failed = 0;
  char name[256];
  int rank;
  size_t seen = 0;
  while (failed == 0 && fscanf(file, "%255s %d", name, &rank) == 2) {
    long long elements = 1;
    for (int i = 0; i < rank; ++i) {
      long long size;
      if (fscanf(file, "%lld", &size) != 1 || size < 0 || (size > 0 && elements > 1000000000 / size)) failed = -1;
      if (failed == 0) elements *= size;
    }
    const MSTensorHandle output = FindOutput(outputs, name, seen++);
    if (output == NULL || failed != 0 || elements != MSTensorGetElementNum(output)) {
      printf("calibration: no output matches %s in name or position, and number of elements\n", name);
      failed = -1;
    } else {
      failed = CompareOutput(file, output, threshold);
    }
  }
  if (failed == 0 && seen != outputs.handle_num) {
    printf("%s: the file has %lu of %lu outputs\n", path, (unsigned long)seen, (unsigned long)outputs.handle_num);
    failed = -1;
  }
  fclose(file);
  return failed;
}
