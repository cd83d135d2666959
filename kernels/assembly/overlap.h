/* Where the pieces of SplitWithOverlap lie; shared by its shape rule and its kernel. */
#ifndef MSLITE_OVERLAP_H
#define MSLITE_OVERLAP_H

#include "kernel.h"

/* Piece `index` of a dimension of `size`: [begin, end). False when the attributes do not tell. */
bool mslite_overlap_piece(const mslite_SplitWithOverlap *attributes, int64_t size, int32_t index, int64_t *begin,
                          int64_t *end);

#endif
