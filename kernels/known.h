/* What is known before anything runs: sizes, which may be symbols, and the contents of small integer tensors. Shape
 * rules read and pass them on, and so do the plans that kernels share with their rules. */
#ifndef MSLITE_KNOWN_H
#define MSLITE_KNOWN_H

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

/* A symbol that no other dimension has. */
int64_t mslite_new_symbol(mslite_shape_context *context);

/* Entry `index` of a small integer tensor: a value or a symbol. False when it is not known. */
bool mslite_known_value(const mslite_tensor *tensor, int64_t index, int64_t *value);

/* The output has the input's elements in the same order: passes on what is known of them. */
void mslite_known_copy(const mslite_tensor *input, mslite_tensor *output);

/* Entry after entry, row-major over `sizes`: output.known[...] = input.known[base + sum(index * strides)]. Does nothing
 * when the contents of the input or a size are unknown, or when there are more than MSLITE_MAX_KNOWN entries. */
void mslite_known_strided(const mslite_tensor *input, int64_t base, int32_t rank, const int64_t *sizes,
                          const int64_t *strides, mslite_tensor *output);

/* The number of entries of a parameter tensor such as begin or perm, or -1 when it cannot be told. */
int64_t mslite_entry_count(const mslite_tensor *tensor);

/* Fails when a parameter tensor, such as a shape or the paddings, certainly has more than `limit` entries. */
mslite_status mslite_limit_entries(mslite_shape_context *context, const mslite_tensor *tensor, int32_t limit);

/* Reads all entries of a parameter tensor. False when one is not there; entries may be symbols. */
bool mslite_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count);

/* As mslite_entries, but false when an entry is a symbol too. */
bool mslite_exact_entries(const mslite_tensor *tensor, int64_t *entries, int32_t limit, int32_t *count);

/* `output` gets rank `rank` and new symbols for all dimensions; a rank that cannot be makes it unknown. */
void mslite_unknown_dims(mslite_shape_context *context, int32_t rank, mslite_tensor *output);

/* Two names for one size: the known one, or either. False when both are known and differ. */
bool mslite_merge_size(int64_t a, int64_t b, int64_t *merged);

/* a / b for sizes; a new symbol when it cannot be told. False when it does not divide. */
bool mslite_size_divide(mslite_shape_context *context, int64_t a, int64_t b, int64_t *quotient);

#ifdef __cplusplus
}
#endif

#endif
