// Settings by section, from a file or from the caller.
#ifndef MSLITE_API_CONFIG_H
#define MSLITE_API_CONFIG_H

#include <map>
#include <string>
#include <utility>

#include "include/api/status.h"

namespace mslite {
using ConfigSections = std::map<std::string, std::map<std::string, std::string>>;

/// Adds one setting. A section that has no effect here, which today is every one, is named in a warning when it is
/// first seen. Errors: kLiteError beyond 100 sections or 1000 settings in one.
mindspore::Status AddSetting(const std::string &section, const std::pair<std::string, std::string> &setting,
                             ConfigSections *sections);

/// Reads `[section]` and `key=value` lines; `#` begins a comment line. Nothing is added when the file has an error.
/// Errors: kLiteFileError for a file that cannot be read or is no such text; those of AddSetting.
mindspore::Status ReadConfig(const std::string &path, ConfigSections *sections);
}  // namespace mslite

#endif
