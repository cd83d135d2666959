/* In a separate file, so that no compiler treats the zeros as constants. */
#include "cropped.h"

const mslite_cropping mslite_cropped = {0};
