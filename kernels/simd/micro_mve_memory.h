/* Helium's gather, scatter and interleaving loads and stores. Without Helium, instructions are replaced by
 * equivalent C. */
#ifndef MSLITE_MICRO_MVE_MEMORY_H
#define MSLITE_MICRO_MVE_MEMORY_H

#include "simd/micro_mve.h"

/* One bit per byte of a vector: lanes with bits 0 are not loaded (they become 0) and not stored. */
typedef uint16_t micro_lanes;

#if defined(__ARM_FEATURE_MVE)

typedef uint8x16_t micro_u8x16;
typedef uint32x4_t micro_u32x4;

MICRO_INLINE micro_u8x16 micro_load_u8x16(const uint8_t *from) { return vldrbq_u8(from); }
MICRO_INLINE micro_u32x4 micro_load_u32x4(const uint32_t *from) { return vldrwq_u32(from); }

/* Returns the lanes of the first `count` of four words. */
MICRO_INLINE micro_lanes micro_first_words(int32_t count) { return vctp32q((uint32_t)count); }

/* Loads the bytes at these offsets. */
MICRO_INLINE micro_i8x16 micro_pick_i8x16(const int8_t *from, micro_u8x16 offsets, micro_lanes lanes) {
  return vldrbq_gather_offset_z_s8(from, offsets, lanes);
}
/* Loads four times four bytes; addresses must be multiples of 4. */
MICRO_INLINE micro_i8x16 micro_pick_fours(const int8_t *from, micro_u32x4 offsets) {
  return vreinterpretq_s8_s32(vldrwq_gather_offset_s32((const int32_t *)(const void *)from, offsets));
}
/* Stores the low bytes of the lanes at these offsets. */
MICRO_INLINE void micro_scatter_bytes(int8_t *to, micro_u32x4 offsets, micro_i32x4 v, micro_lanes lanes) {
  vstrbq_scatter_offset_p_s32(to, offsets, v, lanes);
}
/* Stores 64 bytes: lane 0 of a, b, c and d, lane 1 of each, and so on. */
MICRO_INLINE void micro_store_interleaved(int8_t *to, micro_i8x16 a, micro_i8x16 b, micro_i8x16 c, micro_i8x16 d) {
  const int8x16x4_t v = {{a, b, c, d}};
  vst4q_s8(to, v);
}

#else

typedef struct {
  uint8_t at[16];
} micro_u8x16;
typedef struct {
  uint32_t at[4];
} micro_u32x4;

MICRO_INLINE micro_u8x16 micro_load_u8x16(const uint8_t *from) {
  micro_u8x16 v;
  memcpy(v.at, from, sizeof v.at);
  return v;
}
MICRO_INLINE micro_u32x4 micro_load_u32x4(const uint32_t *from) {
  micro_u32x4 v;
  memcpy(v.at, from, sizeof v.at);
  return v;
}
MICRO_INLINE micro_lanes micro_first_words(int32_t count) {
  return (micro_lanes)(count >= 4 ? 0xFFFF : (1 << 4 * count) - 1);
}
MICRO_INLINE micro_i8x16 micro_pick_i8x16(const int8_t *from, micro_u8x16 offsets, micro_lanes lanes) {
  micro_i8x16 v = {{0}};
  for (int32_t i = 0; i < 16; ++i) {
    if (lanes >> i & 1) v.at[i] = from[offsets.at[i]];
  }
  return v;
}
MICRO_INLINE micro_i8x16 micro_pick_fours(const int8_t *from, micro_u32x4 offsets) {
  micro_i8x16 v;
  for (int32_t i = 0; i < 4; ++i) memcpy(v.at + 4 * i, from + offsets.at[i], 4);
  return v;
}
MICRO_INLINE void micro_scatter_bytes(int8_t *to, micro_u32x4 offsets, micro_i32x4 v, micro_lanes lanes) {
  for (int32_t i = 0; i < 4; ++i) {
    if (lanes >> 4 * i & 1) to[offsets.at[i]] = (int8_t)(uint8_t)(uint32_t)v.at[i];
  }
}
MICRO_INLINE void micro_store_interleaved(int8_t *to, micro_i8x16 a, micro_i8x16 b, micro_i8x16 c, micro_i8x16 d) {
  for (int32_t i = 0; i < 16; ++i, to += 4) {
    to[0] = a.at[i];
    to[1] = b.at[i];
    to[2] = c.at[i];
    to[3] = d.at[i];
  }
}

#endif

#endif
