/* The pieces of SplitWithOverlap; shared by its shape rule and its kernel. */
#ifndef MSLITE_OVERLAP_H
#define MSLITE_OVERLAP_H

#include "kernel.h"

/* Finds the range [begin, end) of piece `index` in a dimension of `size`. Returns false if the attributes are
 * invalid. */
bool mslite_overlap_piece(const mslite_SplitWithOverlap *attributes, int64_t size, int32_t index, int64_t *begin,
                          int64_t *end);

#endif
