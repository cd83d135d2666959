/* The table of every kernel in this library, built from kernels/<family>/kernels.inc. */
#include "kernel.h"

#if defined(MSLITE_TARGET_X86)
#define MSLITE_EACH_ISA(X, name) X(name##_scalar) X(name##_avx2) X(name##_avx512)
#elif defined(MSLITE_TARGET_ARM64)
#define MSLITE_EACH_ISA(X, name) X(name##_scalar) X(name##_neon)
#else
#define MSLITE_EACH_ISA(X, name) X(name##_scalar)
#endif

#define MSLITE_DECLARE(name) extern const mslite_kernel mslite_kernel_##name;
#define KERNEL(name) MSLITE_DECLARE(name)
#define KERNEL_VECTOR(name) MSLITE_EACH_ISA(MSLITE_DECLARE, name)
#include "families.inc"
#undef KERNEL
#undef KERNEL_VECTOR

#define MSLITE_LIST(name) &mslite_kernel_##name,
#define KERNEL(name) MSLITE_LIST(name)
#define KERNEL_VECTOR(name) MSLITE_EACH_ISA(MSLITE_LIST, name)
const mslite_kernel *const mslite_kernels[] = {
#include "families.inc"
};

const int32_t mslite_kernel_count = (int32_t)(sizeof mslite_kernels / sizeof *mslite_kernels);
