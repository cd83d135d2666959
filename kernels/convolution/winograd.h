/* Winograd's minimal filtering F(m x m, 3 x 3), m = 2 or 4: an output tile of m x m costs (m + 2)^2 multiplications
 * per channel pair instead of 9 m^2. Y = A^T [ (G g G^T) * (B^T d B) ] A with the matrices of Lavin and Gray, "Fast
 * algorithms for convolutional neural networks", 2015; m = 4 uses other points (winograd.c). This is the portable
 * part: selection, partitioning and packing. */
#ifndef MSLITE_CONVOLUTION_WINOGRAD_H
#define MSLITE_CONVOLUTION_WINOGRAD_H

#include "convolution/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MSLITE_WINOGRAD_MAX_TILES = 48 };

typedef struct {
  int64_t across, down;              /* tiles per image */
  int64_t tiles;                     /* in all images */
  int64_t tile_block, tile_blocks;   /* tiles per part */
  int64_t panels;                    /* of output channels */
  int64_t panel_block, panel_blocks; /* panels per part */
  bool shared;                       /* a first phase transforms the input for all parts */
} mslite_winograd_plan;

/* Returns whether F(m x m, 3 x 3) can compute this convolution and is the fastest method, for elements of `size`
 * bytes. `packs`: the weight is not constant, so it must be transformed in every run. */
bool mslite_winograd_is_faster(const mslite_convolution *geometry, int32_t m, int32_t size, bool packs);

/* `height` and `width` are those of the GEMM's register tile. */
void mslite_plan_winograd(const mslite_convolution *geometry, int32_t m, int32_t height, int32_t width,
                          mslite_winograd_plan *plan);

int64_t mslite_winograd_packed_floats(const mslite_convolution *geometry, int32_t m, int32_t width);

/* Computes G g G^T of every filter, as (m + 2)^2 packed matrices [in][out] of float32, or of float16 bits. */
void mslite_winograd_pack(const mslite_convolution *geometry, int32_t m, int32_t width, const float *weight,
                          float *packed);
void mslite_winograd_pack_half(const mslite_convolution *geometry, int32_t m, int32_t width, const float *weight,
                               uint16_t *packed);

#ifdef __cplusplus
}
#endif

#endif
