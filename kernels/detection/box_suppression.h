/* Sorts candidates by score, and computes overlaps, for the operators that suppress boxes. */
#ifndef MSLITE_BOX_SUPPRESSION_H
#define MSLITE_BOX_SUPPRESSION_H

#include "kernel.h"

typedef struct {
  float y_min, x_min, y_max, x_max;
} mslite_box;

/* Sorts indices by descending score; equal scores by ascending index. */
void mslite_sort_by_score(const float *scores, int32_t *indices, int32_t count);

/* Returns the intersection over union; 0 if a box has no area. */
float mslite_box_iou(const mslite_box *a, const mslite_box *b);

#endif
