// Settings by section, from a file or from the caller.
#ifndef MSLITE_API_CONFIG_H
#define MSLITE_API_CONFIG_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "include/api/status.h"

namespace mslite {
using ConfigSections = std::map<std::string, std::map<std::string, std::string>>;

/// Adds one setting. `plugin_path=a.so;b.so` of [registry] loads plug-ins: each path as it stands, or below `folder`;
/// Python files are the converter's and left out. `obf_ratio` of [build_session] is read by ObfuscationRatio,
/// [execution_plan] by ReadExecutionPlan. Other sections have no effect here, and are named in a warning when they are
/// first seen. Errors: kLiteError beyond 100 sections or 1000 settings in one; those of LoadPlugin.
mindspore::Status AddSetting(const std::string &section, const std::pair<std::string, std::string> &setting,
                             ConfigSections *sections, const std::string &folder = "");

/// Reads `[section]` and `key=value` lines; `#` begins a comment line. Nothing is added when the file has an error.
/// Errors: kLiteFileError for a file that cannot be read or is no such text; those of AddSetting.
mindspore::Status ReadConfig(const std::string &path, ConfigSections *sections);

/// The number that `obf_ratio` of [build_session] gives; 0 where it is 0, 1 or -1, or not there: nothing is to be done.
/// Errors: kLiteParamInvalid for what is not a number above 0, up to 50.
mindspore::Status ObfuscationRatio(const ConfigSections &sections, float *ratio);

/// The real types that `<node>=data_type:float16` and `<node>=data_type:float32` of [execution_plan] give nodes, by
/// their names. Errors: kLiteParamInvalid for other values.
mindspore::Status ReadExecutionPlan(const ConfigSections &sections, std::map<std::string, int32_t> *types);
}  // namespace mslite

#endif
