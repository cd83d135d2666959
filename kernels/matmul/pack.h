/* The order in which the GEMM kernels read their right-hand matrix: panels of `width` columns, each [k][width], the
 * last one padded with zeros. Also how a GEMM is divided into parts. Portable: any host packs for any target. */
#ifndef MSLITE_MATMUL_PACK_H
#define MSLITE_MATMUL_PACK_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the floats in the packed form of a k x n matrix. */
int64_t mslite_packed_floats(int64_t k, int64_t n, int32_t width);

/* Packs panels [first, last) of b[k][n], with element (i, j) at b[i * k_step + j * n_step]. */
void mslite_pack_panels(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                        int64_t first, int64_t last, float *packed);

/* As mslite_pack_panels, to float16 bits: from float32 constants, and from float16. */
void mslite_pack_half_panels(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                             int64_t first, int64_t last, uint16_t *packed);
void mslite_copy_half_panels(const uint16_t *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                             int64_t first, int64_t last, uint16_t *packed);

enum { MSLITE_LARGEST_ROW_BLOCK = 96 };

/* How an m x n x k GEMM is divided: blocks of rows and of panels, each pair one part; k in steps that fit the L1
 * cache. Depends only on the sizes. */
typedef struct {
  int64_t row_block, row_blocks;     /* rows per block, at most MSLITE_LARGEST_ROW_BLOCK */
  int64_t panel_block, panel_blocks; /* panels per block */
  int64_t k_block;
} mslite_gemm_plan;

/* `height` and `width` are those of the register tile. */
void mslite_plan_gemm(int64_t m, int64_t n, int64_t k, int32_t height, int32_t width, mslite_gemm_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
