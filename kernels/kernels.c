/* The table of all kernels in this library, built from kernels/<family>/kernels.inc. */
#define MSLITE_LISTS "families.inc"
#define MSLITE_TABLE mslite_kernels
#include "table.inc"

const int32_t mslite_kernel_count = (int32_t)(sizeof mslite_kernels / sizeof *mslite_kernels);
