/* Steps that an Arm Ethos-U NPU computes, by commands that vela has compiled. */
#ifndef MSLITE_ETHOSU_H
#define MSLITE_ETHOSU_H

#include <stdint.h>

#include "../kernels/kernel.h"

/* Where a tensor lies in the working memory while the NPU runs. */
typedef struct {
  int32_t at, bytes;
} mslite_ethosu_piece;

typedef struct {
  int32_t input_count, output_count;
  int32_t command_bytes, constant_bytes;
  int32_t scratch_bytes;
  int32_t fast_bytes;                /* of a second working memory; 0: there is none */
  int32_t fast_at;                   /* where it begins, behind the first */
  const mslite_ethosu_piece *pieces; /* inputs, then outputs */
} mslite_ethosu;

/* The commands and the constants are the first two inputs. A run ends with an error where the driver reports one. */
void mslite_ethosu_run(const mslite_run *run, int32_t phase, int32_t part);

#endif
