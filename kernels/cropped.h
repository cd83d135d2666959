/* Describes which parts of the library remain after mslite-crop or a build with -DMSLITE_OPERATORS. They write
 * `mslite_cropping` to the compiled archive, and set removed entries to null pointers in the tables of kernels,
 * shape rules and parts of loading. */
#ifndef MSLITE_CROPPED_H
#define MSLITE_CROPPED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of kernels of an operator, by the nodes that they can run. */
enum {
  MSLITE_KIND_FLOAT32 = 1, /* the first operand is float32 */
  MSLITE_KIND_INT8 = 2,    /* quantized integers of 8 bits */
  MSLITE_KIND_INT16 = 4,   /* quantized integers of 16 bits */
  MSLITE_KIND_OTHER = 8,   /* the first operand has another data type and is not quantized */
  MSLITE_MAX_KEPT = 384    /* limit of operators; there are fewer */
};

enum {
  MSLITE_CROPPED_NOT = 0,      /* complete library */
  MSLITE_CROPPED_MODELS = 1,   /* for some models */
  MSLITE_CROPPED_OPERATORS = 2 /* for a group of operators */
};

typedef struct {
  int32_t op;
  int32_t kinds; /* sum of MSLITE_KIND_... */
} mslite_kept_operator;

typedef struct {
  int32_t is_cropped; /* MSLITE_CROPPED_... */
  int32_t kept_count;
  mslite_kept_operator
      kept[MSLITE_MAX_KEPT]; /* all kernels of these are there that this machine's instruction sets need */
  /* The names of the files that it was cropped for, or of the group of operators. */
  char purpose[256];
} mslite_cropping;

extern const mslite_cropping mslite_cropped;

#ifdef __cplusplus
}
#endif

#endif
