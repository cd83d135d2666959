/* A file of its own, so that no compiler takes the zeros for granted. */
#include "cropped.h"

const mslite_cropping mslite_cropped = {0};
