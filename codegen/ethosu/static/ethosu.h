/* Steps that run on an Arm Ethos-U NPU, with a command stream that was compiled by vela. */
#ifndef MSLITE_ETHOSU_H
#define MSLITE_ETHOSU_H

#include <stdint.h>

#include "../kernels/kernel.h"

/* Offset and size of a tensor in the workspace while the NPU runs. */
typedef struct {
  int32_t at, bytes;
} mslite_ethosu_piece;

typedef struct {
  int32_t input_count, output_count;
  int32_t command_bytes, constant_bytes;
  int32_t scratch_bytes;
  int32_t fast_bytes;                /* size of a second workspace in fast memory; 0: none */
  int32_t fast_at;                   /* offset of the second workspace, after the first */
  const mslite_ethosu_piece *pieces; /* inputs, then outputs */
} mslite_ethosu;

/* Runs the step. Its first two inputs are the commands and the constants. The run ends with an error if the driver
 * reports one. */
void mslite_ethosu_run(const mslite_run *run, int32_t phase, int32_t part);

#endif
