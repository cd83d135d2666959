/* Inference of sizes, which may be symbols, and of the contents of small integer tensors before a run. Used by shape
 * rules, and by plans that kernels share with their rules. */
#ifndef MSLITE_KNOWN_VALUES_H
#define MSLITE_KNOWN_VALUES_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the printf-style reason into the context and returns `status`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
mslite_status
mslite_shape_fail(mslite_shape_context *context, mslite_status status, const char *format, ...);

/* Returns a symbol that no other dimension has. */
int64_t mslite_new_symbol(mslite_shape_context *context);

/* Reads entry `index` of a small integer tensor: a value or a symbol. Returns false if it is unknown. */
bool mslite_known_value(const mslite_tensor *tensor, int64_t index, int64_t *value);

/* Copies the known contents to an output that has the input's elements in the same order. */
void mslite_known_copy(const mslite_tensor *input, mslite_tensor *output);

/* Copies known contents with strides, row-major over `sizes`: output.known[...] = input.known[base + sum(index *
 * strides)]. Does nothing if the contents of the input or a size are unknown, or if there are more than
 * MSLITE_MAX_KNOWN entries. */
void mslite_known_strided(const mslite_tensor *input, int64_t base, int32_t rank, const int64_t *sizes,
                          const int64_t *strides, mslite_tensor *output);

/* Returns the number of entries of a parameter tensor such as begin or perm, or -1 if it is unknown. */
int64_t mslite_entry_count(const mslite_tensor *tensor);

/* Fails if a parameter tensor, such as a shape or the paddings, has more than `limit` entries for certain. */
mslite_status mslite_limit_entries(mslite_shape_context *context, const mslite_tensor *tensor, int32_t limit);

/* Reads all entries of a parameter tensor, which may be symbols. Returns false if one is unknown. */
bool mslite_read_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count);

/* As mslite_read_entries, but also returns false if an entry is a symbol. */
bool mslite_read_known_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count);

/* Sets the rank of `output` and new symbols for all dimensions. An invalid rank makes it unknown. */
void mslite_unknown_dims(mslite_shape_context *context, int32_t rank, mslite_tensor *output);

/* Merges two values of the same size: the known one, or either. Returns false if both are known and differ. */
bool mslite_merge_size(int64_t a, int64_t b, int64_t *merged);

/* Computes a / b for sizes; a new symbol if it is unknown. Returns false if b does not divide a. */
bool mslite_size_divide(mslite_shape_context *context, int64_t a, int64_t b, int64_t *quotient);

#ifdef __cplusplus
}
#endif

#endif
