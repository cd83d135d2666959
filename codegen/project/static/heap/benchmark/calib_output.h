/* Expected outputs, from a text file: for each output a line `NAME RANK SIZE...` and a line with its values. */
#ifndef CALIB_OUTPUT_H_
#define CALIB_OUTPUT_H_

#include "include/c_api/model_c.h"

/* 0 when the cosine of every output and its expected values is `threshold` or more; -1, after saying why, if not. */
int CompareOutputs(const char *path, MSTensorHandleArray outputs, double threshold);

/* Element `index` of a tensor as a number. */
double ElementOf(const void *data, MSDataType type, size_t index);

#endif /* CALIB_OUTPUT_H_ */
