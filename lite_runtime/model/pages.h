// Releases the memory pages of a mapped model file.
#ifndef MSLITE_MODEL_PAGES_H
#define MSLITE_MODEL_PAGES_H

#include <cstddef>

#include "model/graph.h"

namespace mslite {
// Releases the pages that contain only this constant if it is in a mapped file. If the constant is read again, the
// system reloads them from the file.
void ReleasePages(const Graph &graph, const void *contents, size_t bytes);
}  // namespace mslite

#endif
