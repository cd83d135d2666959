/* What mslite-crop, or a build with -DMSLITE_OPERATORS, left of this library. They write `mslite_cropping` into the
 * compiled archive, and leave null pointers in the tables of kernels, shape rules and parts of loading where it took
 * something out. */
#ifndef MSLITE_CROPPED_H
#define MSLITE_CROPPED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What kernels of an operator are told apart by: which nodes are offered to them. */
enum {
  MSLITE_KIND_FLOAT32 = 1, /* the first operand is float32 */
  MSLITE_KIND_INT8 = 2,    /* quantized integers of 8 bits */
  MSLITE_KIND_INT16 = 4,   /* quantized integers of 16 bits */
  MSLITE_KIND_OTHER = 8,   /* the first operand has another type, and stands for itself */
  MSLITE_MAX_KEPT = 384    /* operators; there are fewer */
};

enum {
  MSLITE_CROPPED_NOT = 0,      /* a whole library */
  MSLITE_CROPPED_MODELS = 1,   /* for some models */
  MSLITE_CROPPED_OPERATORS = 2 /* to a group of operators */
};

typedef struct {
  int32_t op;
  int32_t kinds; /* sum of MSLITE_KIND_... */
} mslite_kept;

typedef struct {
  int32_t is_cropped; /* MSLITE_CROPPED_... */
  int32_t kept_count;
  mslite_kept kept[MSLITE_MAX_KEPT]; /* every kernel of these is there that this machine's instruction sets need */
  char purpose[256];                 /* the names of the files that it was cropped for, or of the group of operators */
} mslite_cropping;

extern const mslite_cropping mslite_cropped;

#ifdef __cplusplus
}
#endif

#endif
