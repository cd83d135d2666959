/* The number of boxes of PriorBox; shared by its shape rule and kernel. */
#ifndef MSLITE_PRIOR_BOX_H
#define MSLITE_PRIOR_BOX_H

#include "kernel.h"

/* Returns the boxes per cell of the feature map. */
int64_t mslite_prior_count(const mslite_PriorBox *attributes);

#endif
