/* Steps with compressed constants in flash. They are decompressed into the workspace before the kernel runs: all at
 * once, or those of a few output channels at a time. */
#ifndef MSLITE_COMPRESSED_H
#define MSLITE_COMPRESSED_H

#include <stdint.h>

#include "../kernels/kernel.h"

enum { MSLITE_COMPRESSED_INPUTS = 4, MSLITE_COMPRESSED_PHASES = 4 };

/* A tile is a range of output channels. All tiles have the same number of channels, except the last one. */
typedef struct {
  void (*run)(const mslite_run *run, int32_t phase, int32_t part);
  const void *numbers, *last_numbers;           /* parameters of the kernel */
  int32_t parts[MSLITE_COMPRESSED_PHASES];      /* number of parts of each of its phases */
  int32_t tiles, blocks, last_blocks;           /* blocks: number of 16-byte blocks of a tile */
  int32_t forms_size;                           /* bytes before the blocks */
  int32_t shared_at, scratch_at;                /* offsets of the kernel's workspaces, after the decompressed tile */
  int32_t output_at;                            /* offset of a tile's output, whose rows are then copied; 0: no copy */
  int32_t rows, row_size, tile_size, last_size; /* of the output; sizes are bytes */
  int8_t operand, input_count;                  /* operand: index of the compressed input */
  uint32_t add, flip; /* convert four 4-bit integers to bytes: add `add`, then exclusive or with `flip` */
  uint32_t borrows;   /* 0x00800080 if the second byte of a pair is smaller by one when the first is negative; else 0 */
} mslite_compressed;

/* Runs the step, which has one part. Its inputs are those of the kernel, with the compressed constant instead of the
 * plain one. */
void mslite_compressed_run(const mslite_run *run, int32_t phase, int32_t part);

#endif
