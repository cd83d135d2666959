/* Functions of single stored integers: what the kernels of all instruction sets share. */
#ifndef MSLITE_UNARY_INT8_H
#define MSLITE_UNARY_INT8_H

#include "kernel.h"

int32_t mslite_stored_unary_support(const mslite_node *node);

/* The results of all 256 integers of 8 bits, the lowest first. */
mslite_status mslite_fill_stored_unary(const mslite_node *node, int8_t *table);

#endif
