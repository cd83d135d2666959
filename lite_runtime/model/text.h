// Makes texts of a file safe for messages and for the API.
#ifndef MSLITE_MODEL_TEXT_H
#define MSLITE_MODEL_TEXT_H

#include <string>

#include "model/internal_api.h"

namespace mslite {
// Returns `text` with a '?' for every byte that is not part of valid UTF-8, and for control characters other than
// newline and tab, because names come from untrusted files.
MSLITE_INTERNAL_API std::string CleanText(std::string text);
}  // namespace mslite

#endif
