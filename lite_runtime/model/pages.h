// Memory that the pages of a mapped model file take.
#ifndef MSLITE_MODEL_PAGES_H
#define MSLITE_MODEL_PAGES_H

#include <cstddef>

#include "model/graph.h"

namespace mslite {
// The contents of a constant are not wanted soon: where they lie in a mapped file, the pages that hold nothing else
// leave memory. Who reads them again gets them from the file.
void LetGoOfPages(const Graph &graph, const void *contents, size_t bytes);
}  // namespace mslite

#endif
