#include "api/config.h"

#include <algorithm>
#include <fstream>
#include <locale>
#include <sstream>
#include <vector>

#include "api/log.h"
#include "include/mslite/plugin.h"
#include "model/message.h"
#include "op_params.h"

namespace mslite {
namespace {
constexpr size_t kMaximumSections = 100;
constexpr size_t kMaximumSettings = 1000;
constexpr char kRegistry[] = "registry";
constexpr char kBuildSession[] = "build_session";
constexpr char kObfuscationRatio[] = "obf_ratio";
constexpr float kLargestRatio = 50;
constexpr char kDynamicBatching[] = "dynamic_batching";  // for ModelParallelRunner
constexpr char kExecutionPlan[] = "execution_plan";

// Sections that have an effect in MindSpore Lite.
constexpr const char *kSections[] = {"build_session",
                                     "common",
                                     "common_context",
                                     "ms_cache",
                                     "model_file",
                                     "weight",
                                     "gpu_context",
                                     "ascend_context",
                                     "shared_thread_pool",
                                     "inner_common",
                                     "inner_model_parallel_runner"};

void WarnOfNoEffect(const std::string &section) {
  const bool is_known =
      std::any_of(std::begin(kSections), std::end(kSections), [&section](const char *name) { return section == name; });
  Log(LogLevel::kWarning, is_known ? "the settings of section '" + section + "' have no effect in this library"
                                   : "section '" + section + "' is unknown; its settings have no effect");
}

mindspore::Status LoadPlugins(const std::string &paths, const std::string &folder) {
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ';');) {
    const bool is_python = path.size() > 3 && path.compare(path.size() - 3, 3, ".py") == 0;
    if (path.empty() || is_python) continue;
    const bool is_beside = !folder.empty() && !std::ifstream(path) && std::ifstream(folder + "/" + path);
    MSLITE_TRY(LoadPlugin(is_beside ? folder + "/" + path : path));
  }
  return mindspore::kSuccess;
}

std::string Trim(const std::string &text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}
}  // namespace

mindspore::Status AddSetting(const std::string &section, const std::pair<std::string, std::string> &setting,
                             ConfigSections *sections, const std::string &folder) {
  if (section == kRegistry && setting.first == "plugin_path") MSLITE_TRY(LoadPlugins(setting.second, folder));
  const auto place = sections->find(section);
  if (place == sections->end()) {
    if (sections->size() >= kMaximumSections)
      return Fail(mindspore::kLiteError, "the configuration has more than 100 sections");
    const bool is_ratio = section == kBuildSession && setting.first == kObfuscationRatio;
    const bool has_effect =
        section == kRegistry || section == kDynamicBatching || section == kExecutionPlan || is_ratio;
    if (!has_effect) WarnOfNoEffect(section);
  } else if (place->second.size() >= kMaximumSettings && place->second.count(setting.first) == 0) {
    return Fail(mindspore::kLiteError, "section '" + section + "' has more than 1000 settings");
  }
  (*sections)[section][setting.first] = setting.second;
  return mindspore::kSuccess;
}

mindspore::Status ReadConfig(const std::string &path, ConfigSections *sections) {
  const auto error = [&path](const std::string &reason) {
    return Fail(mindspore::kLiteFileError, "configuration file '" + path + "': " + reason);
  };
  std::ifstream stream(path);
  if (!stream) return error("cannot be opened");
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> settings;
  std::string line;
  std::string section;
  size_t number = 0;
  while (std::getline(stream, line)) {
    ++number;
    line = Trim(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[' && line.back() == ']') {
      section = Trim(line.substr(1, line.size() - 2));
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return error("line " + std::to_string(number) + " is not of the form 'key=value'");
    if (section.empty()) return error("line " + std::to_string(number) + " is before the first [section]");
    if (settings.size() >= kMaximumSections * kMaximumSettings) return error("too many settings");
    settings.push_back({section, {Trim(line.substr(0, equals)), Trim(line.substr(equals + 1))}});
  }
  if (stream.bad() || !stream.eof()) return error("cannot be read");
  ConfigSections merged = *sections;
  const std::string folder = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
  for (const auto &[name, setting] : settings) MSLITE_TRY(AddSetting(name, setting, &merged, folder));
  *sections = std::move(merged);
  return mindspore::kSuccess;
}

mindspore::Status ObfuscationRatio(const ConfigSections &sections, float *ratio) {
  *ratio = 0;
  const auto section = sections.find(kBuildSession);
  if (section == sections.end() || section->second.count(kObfuscationRatio) == 0) return mindspore::kSuccess;
  const std::string &text = section->second.at(kObfuscationRatio);
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  float number = 0;
  const bool is_number = stream >> number && stream.peek() == std::istringstream::traits_type::eof();
  if (is_number && (number == 0 || number == 1 || number == -1)) return mindspore::kSuccess;
  if (!is_number || !(number > 0 && number <= kLargestRatio)) {
    return Fail(mindspore::kLiteParamInvalid,
                "obf_ratio of [build_session] is '" + text + "'; it must be a number above 0 and at most 50");
  }
  *ratio = number;
  return mindspore::kSuccess;
}

mindspore::Status ReadExecutionPlan(const ConfigSections &sections, std::map<std::string, int32_t> *types) {
  const auto section = sections.find(kExecutionPlan);
  if (section == sections.end()) return mindspore::kSuccess;
  for (const auto &[node, setting] : section->second) {
    if (setting == "data_type:float16") {
      (*types)[node] = MSLITE_FLOAT16;
    } else if (setting == "data_type:float32") {
      (*types)[node] = MSLITE_FLOAT32;
    } else {
      return Fail(mindspore::kLiteParamInvalid, "[execution_plan] has '" + setting + "' for node '" + node +
                                                    "'; it must be data_type:float16 or data_type:float32");
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
