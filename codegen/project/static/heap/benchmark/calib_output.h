/* Compares outputs with expected ones from a text file. For each output, the file has a line `NAME RANK SIZE...` and a
 * line with its values. */
#ifndef CALIB_OUTPUT_H_
#define CALIB_OUTPUT_H_

#include "include/c_api/model_c.h"

/* Returns 0 if the cosine similarity of every output and its expected values is at least `threshold`. Otherwise prints
 * the reason and returns -1. */
int CompareOutputs(const char *path, MSTensorHandleArray outputs, double threshold);

/* Returns element `index` of a tensor. */
double ElementOf(const void *data, MSDataType type, size_t index);

#endif /* CALIB_OUTPUT_H_ */
