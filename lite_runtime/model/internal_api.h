// Marks what the Python modules call of the library, beside its public API: api/internal_exports.map.in lists the same,
// and without the modules nothing of it is exported.
#ifndef MSLITE_MODEL_INTERNAL_API_H
#define MSLITE_MODEL_INTERNAL_API_H

#define MSLITE_INTERNAL_API __attribute__((visibility("default")))

#endif
