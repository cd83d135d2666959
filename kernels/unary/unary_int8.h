/* Element-wise functions of quantized integers: shared by the kernels of all instruction sets. */
#ifndef MSLITE_UNARY_INT8_H
#define MSLITE_UNARY_INT8_H

#include "kernel.h"

int32_t mslite_stored_unary_support(const mslite_node *node);

/* Fills the table with the results of all 256 8-bit integers, the lowest first. */
mslite_status mslite_fill_stored_unary(const mslite_node *node, int8_t *table);

#endif
