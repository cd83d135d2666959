/* The table of the kernels in libmindspore-lite-train, built from kernels/training/kernels.inc. */
#define MSLITE_LISTS "training/kernels.inc"
#define MSLITE_TABLE mslite_training_table
#include "table.inc"

__attribute__((visibility("default"))) const mslite_kernel_list mslite_training_kernels = {
    mslite_training_table,
    (int32_t)(sizeof mslite_training_table / sizeof *mslite_training_table),
};
