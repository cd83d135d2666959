/* Helpers of the shape rules. */
#ifndef MSLITE_SHAPE_H
#define MSLITE_SHAPE_H

#include "known.h"

#define MSLITE_SHAPE_RULE(name)                                                                             \
  mslite_status name(mslite_shape_context *context, const void *params, const mslite_tensor *const *inputs, \
                     int32_t input_count, mslite_tensor *const *outputs, int32_t output_count)

/* All rules. mslite-crop leaves null pointers in the table of a compiled library. */
typedef struct {
  int32_t op;
  mslite_shape_rule rule;
} mslite_rule_entry;

extern const mslite_rule_entry mslite_shape_rules[];
extern const int32_t mslite_shape_rule_count;

/* output: the type and shape of `input`; contents unknown. */
void mslite_same_shape(const mslite_tensor *input, mslite_tensor *output);

/* NumPy broadcasting of two shapes; symbols that may be 1 give a new symbol unless the other side decides. */
mslite_status mslite_broadcast(mslite_shape_context *context, const mslite_tensor *a, const mslite_tensor *b,
                               mslite_tensor *output);

/* a + b, a - b, a * b, ceil(a / b) of sizes that may be symbols; a result that cannot be told is a new symbol. */
int64_t mslite_size_add(mslite_shape_context *context, int64_t a, int64_t b);
int64_t mslite_size_multiply(mslite_shape_context *context, int64_t a, int64_t b);

/* ---- small integer tensors whose contents are known (kernels/shape/contents.c) ---- */

/* Number of entries when every entry can be told by mslite_known_value, else -1. */
int64_t mslite_known_total(const mslite_tensor *tensor);

/* Declares the contents of `output` as known when its shape is fixed and has at most MSLITE_MAX_KNOWN elements of an
 * integer or bool type; the caller then fills known[0 .. known_count). False: nothing can be known. */
bool mslite_begin_known(mslite_tensor *output);

/* `value`, or a new symbol where an element of `type` cannot hold it (and the kernel's result would wrap). */
int64_t mslite_known_or_new(mslite_shape_context *context, int32_t type, int64_t value);

/* `output` gets the dimensions that the small integer tensor `sizes` holds; unknown entries are new symbols. */
mslite_status mslite_shape_from_contents(mslite_shape_context *context, const mslite_tensor *sizes,
                                         mslite_tensor *output);

/* The type that is computed with: INT, UINT and FLOAT are old names of INT32, UINT32 and FLOAT32. */
int32_t mslite_canonical_type(int32_t type);

#endif
