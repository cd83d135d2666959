// Texts of a file, made fit for messages and for the API.
#ifndef MSLITE_MODEL_TEXT_H
#define MSLITE_MODEL_TEXT_H

#include <string>

#include "model/internal_api.h"

namespace mslite {
// `text` with a '?' for every byte that is not part of well-formed UTF-8, and for control characters other than newline
// and tab: names come from files that anybody may have written.
MSLITE_INTERNAL_API std::string CleanText(std::string text);
}  // namespace mslite

#endif
