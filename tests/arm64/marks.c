// The marks as functions of a library, for programs in Python.
#include "marks.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void mslite_mark_begin(void);
EXPORT void mslite_mark_begin(void) { MSLITE_MARK_BEGIN(); }

EXPORT void mslite_mark_end(void);
EXPORT void mslite_mark_end(void) { MSLITE_MARK_END(); }
