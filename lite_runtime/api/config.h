// Configuration by section and key, from a file or from the caller.
#ifndef MSLITE_API_CONFIG_H
#define MSLITE_API_CONFIG_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "include/api/status.h"

namespace mslite {
using ConfigSections = std::map<std::string, std::map<std::string, std::string>>;

/// Adds one setting. `plugin_path=a.so;b.so` in [registry] loads plug-ins. A path is relative to the working directory
/// or to `folder`; Python files are ignored, because they are plug-ins of the converter. ObfuscationRatio reads
/// `obf_ratio` in [build_session]; ReadExecutionPlan reads [execution_plan]. Other sections have no effect, and a
/// warning is logged for each of them. Errors: kLiteError for more than 100 sections or 1000 settings in a section;
/// those of LoadPlugin.
mindspore::Status AddSetting(const std::string &section, const std::pair<std::string, std::string> &setting,
                             ConfigSections *sections, const std::string &folder = "");

/// Reads a file with lines `[section]`, `key=value` and comments (`#`). If the file has an error, no setting is added.
/// Errors: kLiteFileError for a file that cannot be read or has an invalid line; those of AddSetting.
mindspore::Status ReadConfig(const std::string &path, ConfigSections *sections);

/// Sets `*ratio` to `obf_ratio` of [build_session]. It is 0 (no effect) if the setting is 0, 1 or -1, or missing.
/// Errors: kLiteParamInvalid for a value that is not in (0, 50].
mindspore::Status ObfuscationRatio(const ConfigSections &sections, float *ratio);

/// Reads the data types of nodes from [execution_plan]: `<node>=data_type:float16` or `<node>=data_type:float32`.
/// Errors: kLiteParamInvalid for other values.
mindspore::Status ReadExecutionPlan(const ConfigSections &sections, std::map<std::string, int32_t> *types);
}  // namespace mslite

#endif
