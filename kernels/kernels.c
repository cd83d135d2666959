/* The table of every kernel in this library, built from kernels/<family>/kernels.inc. */
#include "kernel.h"

/* KERNEL: portable. KERNEL_VECTOR: compiled once per instruction set. KERNEL_DOT: once per instruction set with a dot
 * product of 8-bit integers. KERNEL_HALF: also with float16 arithmetic. KERNEL_FOURS: also with dot products of fours.
 * KERNEL_MICRO: see target_kernels.c. */
#if defined(MSLITE_TARGET_X86)
#define MSLITE_EACH_ISA(X, name) X(name##_scalar) X(name##_avx2) X(name##_avx512)
#elif defined(MSLITE_TARGET_ARM64) && defined(MSLITE_NO_SCALAR_COPIES)
#define MSLITE_EACH_ISA(X, name) X(name##_neon)
#elif defined(MSLITE_TARGET_ARM64) || defined(MSLITE_TARGET_ARM32)
#define MSLITE_EACH_ISA(X, name) X(name##_scalar) X(name##_neon)
#else
#define MSLITE_EACH_ISA(X, name) X(name##_scalar)
#endif

#if defined(MSLITE_TARGET_X86)
#define MSLITE_DOT_ISA(X, name) X(name##_avx2) X(name##_avx512) X(name##_vnni)
#elif defined(MSLITE_TARGET_ARM64)
#define MSLITE_DOT_ISA(X, name) X(name##_neon) X(name##_neon_dot) X(name##_neon_i8mm)
#elif defined(MSLITE_TARGET_ARM32)
#define MSLITE_DOT_ISA(X, name) X(name##_neon)
#else
#define MSLITE_DOT_ISA(X, name)
#endif

#if defined(MSLITE_TARGET_ARM64)
#define MSLITE_HALF_ISA(X, name) X(name##_neon_fp16)
#else
#define MSLITE_HALF_ISA(X, name)
#endif

#if defined(MSLITE_TARGET_X86)
#define MSLITE_FOURS_ISA(X, name) X(name##_vnni)
#elif defined(MSLITE_TARGET_ARM64)
#define MSLITE_FOURS_ISA(X, name) X(name##_neon_dot)
#else
#define MSLITE_FOURS_ISA(X, name)
#endif

#define KERNEL_MICRO(name)
#define MSLITE_DECLARE(name) extern const mslite_kernel mslite_kernel_##name;
#define KERNEL(name) MSLITE_DECLARE(name)
#define KERNEL_VECTOR(name) MSLITE_EACH_ISA(MSLITE_DECLARE, name)
#define KERNEL_DOT(name) MSLITE_DOT_ISA(MSLITE_DECLARE, name)
#define KERNEL_HALF(name) MSLITE_HALF_ISA(MSLITE_DECLARE, name)
#define KERNEL_FOURS(name) MSLITE_FOURS_ISA(MSLITE_DECLARE, name)
#include "families.inc"
#undef KERNEL
#undef KERNEL_VECTOR
#undef KERNEL_DOT
#undef KERNEL_HALF
#undef KERNEL_FOURS

#define MSLITE_LIST(name) &mslite_kernel_##name,
#define KERNEL(name) MSLITE_LIST(name)
#define KERNEL_VECTOR(name) MSLITE_EACH_ISA(MSLITE_LIST, name)
#define KERNEL_DOT(name) MSLITE_DOT_ISA(MSLITE_LIST, name)
#define KERNEL_HALF(name) MSLITE_HALF_ISA(MSLITE_LIST, name)
#define KERNEL_FOURS(name) MSLITE_FOURS_ISA(MSLITE_LIST, name)
const mslite_kernel *const mslite_kernels[] = {
#include "families.inc"
};

const int32_t mslite_kernel_count = (int32_t)(sizeof mslite_kernels / sizeof *mslite_kernels);
