// Models that are loaded once: builds from the same file share constants and packed weights.
#ifndef MSLITE_API_SHARED_MODELS_H
#define MSLITE_API_SHARED_MODELS_H

#include <memory>
#include <string>

#include "plan/program.h"

namespace mslite {
// The model in a file. While one from the same unchanged file lives, that one.
Status OpenModel(const std::string &path, std::shared_ptr<SharedModel> *model);
// The model in a buffer, which is copied.
Status OpenModel(const void *data, size_t size, std::shared_ptr<SharedModel> *model);
}  // namespace mslite

#endif
