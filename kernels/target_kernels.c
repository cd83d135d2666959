/* The tables of the kernels for generated C, built from kernels/<family>/kernels.inc: those in `_micro.c` files,
 * once per kind of microcontroller; and ARM's kernels if the host is not an ARM processor. */
#include "kernel.h"

#define MSLITE_MICRO_ISA(X, name) X(name##_micro) X(name##_dsp) X(name##_mve)

#if defined(MSLITE_TARGET_NEON)
#define MSLITE_VECTOR_ISA(X, name) X(name##_neon)
#define MSLITE_DOT_ISA(X, name) X(name##_neon) X(name##_neon_dot)
#define MSLITE_FOURS_ISA(X, name) X(name##_neon_dot)
#else
#define MSLITE_VECTOR_ISA(X, name)
#define MSLITE_DOT_ISA(X, name)
#define MSLITE_FOURS_ISA(X, name)
#endif

#define KERNEL(name)
#define KERNEL_HALF(name)

#define MSLITE_DECLARE(name) extern const mslite_kernel mslite_kernel_##name;
#define KERNEL_MICRO(name) MSLITE_MICRO_ISA(MSLITE_DECLARE, name)
#define KERNEL_VECTOR(name) MSLITE_VECTOR_ISA(MSLITE_DECLARE, name)
#define KERNEL_DOT(name) MSLITE_DOT_ISA(MSLITE_DECLARE, name)
#define KERNEL_FOURS(name) MSLITE_FOURS_ISA(MSLITE_DECLARE, name)
#include "families.inc"
#include "training/kernels.inc"
#undef KERNEL_MICRO
#undef KERNEL_VECTOR
#undef KERNEL_DOT
#undef KERNEL_FOURS

#define MSLITE_LIST(name) &mslite_kernel_##name,
#define KERNEL_MICRO(name) MSLITE_MICRO_ISA(MSLITE_LIST, name)
#define KERNEL_VECTOR(name) MSLITE_VECTOR_ISA(MSLITE_LIST, name)
#define KERNEL_DOT(name) MSLITE_DOT_ISA(MSLITE_LIST, name)
#define KERNEL_FOURS(name) MSLITE_FOURS_ISA(MSLITE_LIST, name)
static const mslite_kernel *const table[] = {
#include "families.inc"
};
static const mslite_kernel *const training_table[] = {
#include "training/kernels.inc"
};

const mslite_kernel_list mslite_target_kernels = {table, (int32_t)(sizeof table / sizeof *table)};
const mslite_kernel_list mslite_target_training_kernels = {
    training_table,
    (int32_t)(sizeof training_table / sizeof *training_table),
};
