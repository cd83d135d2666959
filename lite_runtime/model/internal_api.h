// Marks the functions that the Python modules call in addition to the public API. api/internal_exports.map.in lists the
// same functions. In a build without the modules none is exported.
#ifndef MSLITE_MODEL_INTERNAL_API_H
#define MSLITE_MODEL_INTERNAL_API_H

#define MSLITE_INTERNAL_API __attribute__((visibility("default")))

#endif
