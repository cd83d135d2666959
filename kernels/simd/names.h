/* Names of functions that are compiled once per instruction set: MSLITE_ISA is one of the words below, and every
 * external name is defined with MSLITE_ISA_NAME. */
#ifndef MSLITE_NAMES_H
#define MSLITE_NAMES_H

#include "kernel.h"

#define MSLITE_PASTE_EXPANDED(a, b) a##_##b
#define MSLITE_PASTE(a, b) MSLITE_PASTE_EXPANDED(a, b)
#define MSLITE_ISA_NAME(name) MSLITE_PASTE(name, MSLITE_ISA)
#define MSLITE_STRING_EXPANDED(a) #a
#define MSLITE_STRING(a) MSLITE_STRING_EXPANDED(a)
#define MSLITE_ISA_STRING(name) MSLITE_STRING(MSLITE_ISA_NAME(name))

#endif
