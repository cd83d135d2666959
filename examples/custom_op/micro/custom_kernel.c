/* The custom operator of the generated program: the same formula as ../runtime/maxout_plugin.cc. */
#include "registered_kernel.h"

#include <stdint.h>
#include <string.h>

/* Reads an attribute, which must have `size` bytes. Returns 0 for success. */
static int Attribute(const CustomParameter *param, const char *name, void *value, size_t size) {
  for (int i = 0; i < param->attr_num; ++i) {
    if (strcmp(param->attr_name[i], name) != 0 || (size_t)param->attr_size[i] != size) continue;
    memcpy(value, param->attr_data[i], size);
    return 0;
  }
  return 1;
}

static int Maxout(const TensorC *x, const TensorC *y, const CustomParameter *param) {
  int64_t pieces;
  float scale;
  if (Attribute(param, "pieces", &pieces, sizeof pieces) || Attribute(param, "scale", &scale, sizeof scale)) return 1;
  size_t count = 1;
  for (size_t i = 0; i < y->shape_size_; ++i) count *= (size_t)y->shape_[i];
  const float *from = x->data_;
  float *to = y->data_;
  for (size_t i = 0; i < count; ++i) {
    float best = *from++;
    for (int64_t k = 1; k < pieces; ++k, ++from) best = *from > best ? *from : best;
    to[i] = scale * best;
  }
  return 0;
}

/* Called for each Custom node of the model. */
int CustomKernel(TensorC *inputs, int input_num, TensorC *outputs, int output_num, CustomParameter *param) {
  if (strcmp(param->type, "Maxout") == 0 && input_num == 1 && output_num == 1) return Maxout(inputs, outputs, param);
  return 1; /* the run ends with an error */
}
