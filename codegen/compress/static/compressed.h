/* Steps whose constants lie in flash compressed. Before the kernel reads them they are unpacked into working memory:
 * all of them, or those of some output channels at a time. */
#ifndef MSLITE_COMPRESSED_H
#define MSLITE_COMPRESSED_H

#include <stdint.h>

#include "../kernels/kernel.h"

enum { MSLITE_COMPRESSED_INPUTS = 4, MSLITE_COMPRESSED_PHASES = 4 };

/* A tile is some output channels, or all of them; tiles are alike but for the last one. */
typedef struct {
  void (*run)(const mslite_run *run, int32_t phase, int32_t part);
  const void *numbers, *last_numbers;      /* of the kernel */
  int32_t parts[MSLITE_COMPRESSED_PHASES]; /* of each of its phases */
  int32_t tiles, blocks, last_blocks;      /* blocks: of 16 bytes, of one tile */
  int32_t forms_size;                      /* bytes before the blocks */
  int32_t shared_at, scratch_at;           /* the kernel's working memory, behind the unpacked tile */
  int32_t output_at;                       /* a tile's output before its rows go to their places; 0: it has one row */
  int32_t rows, row_size, tile_size, last_size; /* of the output, in bytes */
  int8_t operand, input_count;                  /* the input that is compressed */
  uint32_t add, flip; /* what makes bytes of numbers of four bits, four at a time: plus `add`, exclusive or `flip` */
  uint32_t borrows;   /* 0x00800080 where the second byte of a pair is less by one when the first is negative; else 0 */
} mslite_compressed;

/* One part. Inputs are the kernel's, the compressed one in place of the plain one. */
void mslite_compressed_run(const mslite_run *run, int32_t phase, int32_t part);

#endif
