/* Helper functions of the shape rules. */
#ifndef MSLITE_SHAPE_H
#define MSLITE_SHAPE_H

#include "known_values.h"

#define MSLITE_SHAPE_RULE(name)                                                                             \
  mslite_status name(mslite_shape_context *context, const void *params, const mslite_tensor *const *inputs, \
                     int32_t input_count, mslite_tensor *const *outputs, int32_t output_count)

/* All rules. mslite-crop replaces entries in the table of a compiled library by null pointers. */
typedef struct {
  int32_t op;
  mslite_shape_rule rule;
} mslite_rule_entry;

extern const mslite_rule_entry mslite_shape_rules[];
extern const int32_t mslite_shape_rule_count;

/* Sets data type and shape of `output` to those of `input`; the contents are unknown. */
void mslite_same_shape(const mslite_tensor *input, mslite_tensor *output);

/* NumPy broadcasting of two shapes. A symbol that may be 1 gives a new symbol unless the other side determines the
 * size. */
mslite_status mslite_broadcast(mslite_shape_context *context, const mslite_tensor *a, const mslite_tensor *b,
                               mslite_tensor *output);

/* Compute a + b, a - b, a * b, ceil(a / b) of sizes that may be symbols; an unknown result is a new symbol. */
int64_t mslite_size_add(mslite_shape_context *context, int64_t a, int64_t b);
int64_t mslite_size_multiply(mslite_shape_context *context, int64_t a, int64_t b);

/* ---- small integer tensors whose contents are known (kernels/shape/contents.c) ---- */

/* Returns the number of entries if mslite_known_value returns all of them, otherwise -1. */
int64_t mslite_known_total(const mslite_tensor *tensor);

/* Marks the contents of `output` as known if its shape is fixed and it has at most MSLITE_MAX_KNOWN elements of an
 * integer or bool type; the caller then fills known[0 .. known_count). Returns false if the contents cannot be
 * known. */
bool mslite_begin_known(mslite_tensor *output);

/* Returns `value`, or a new symbol if it is out of range for `type`, where the kernel's result would wrap around. */
int64_t mslite_known_or_new(mslite_shape_context *context, int32_t type, int64_t value);

/* Sets the dimensions of `output` to the contents of the small integer tensor `sizes`; unknown entries are new
 * symbols. */
mslite_status mslite_shape_from_contents(mslite_shape_context *context, const mslite_tensor *sizes,
                                         mslite_tensor *output);

/* Returns the data type for computation: INT, UINT and FLOAT are old names of INT32, UINT32 and FLOAT32. */
int32_t mslite_canonical_type(int32_t type);

#endif
