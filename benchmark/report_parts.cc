#include "report_parts.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "files.h"

namespace mslite::benchmark {
namespace {

using nlohmann::ordered_json;

constexpr const char kPlaceholder[] = "__RESULT__";

// Names in a model file may contain any bytes. Invalid UTF-8 is replaced.
std::string Dump(const ordered_json &json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, ordered_json::error_handler_t::replace);
}

// The same for a <script> element. Characters that could end or begin an element or a comment are escaped.
std::string DumpForScript(const ordered_json &json) {
  std::string escaped;
  for (const char c : Dump(json, -1, true)) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Returns the date and time in UTC, or the time in SOURCE_DATE_EPOCH if it is set, for reproducible pages.
std::string DateAndTime() {
  std::time_t moment = std::time(nullptr);
  if (const char *told = std::getenv("SOURCE_DATE_EPOCH"); told != nullptr && *told != '\0') {
    char *end = nullptr;
    const long long seconds = std::strtoll(told, &end, 10);
    if (*end == '\0') moment = static_cast<std::time_t>(seconds);
  }
  std::tm parts{};
  std::array<char, 64> text{};
  if (gmtime_r(&moment, &parts) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// Returns an argument quoted for a shell.
std::string Quoted(const std::string &word) {
  const char *plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\"'\"'" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

uint32_t Crc32(const void *data, size_t size) {
  uint32_t crc = 0xffffffffU;
  const auto *bytes = static_cast<const unsigned char *>(data);
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

ordered_json Tensors(const std::vector<TensorInfo> &tensors, bool with_crc) {
  ordered_json list = ordered_json::array();
  for (const TensorInfo &tensor : tensors) {
    ordered_json entry = {{"name", tensor.name}, {"shape", tensor.shape}, {"type", tensor.type}};
    if (with_crc) {
      std::array<char, 9> text{};
      std::snprintf(text.data(), text.size(), "%08x", tensor.crc);
      entry["crc32"] = text.data();
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string CommandLine(int count, const char *const *words) {
  std::string line;
  for (int i = 0; i < count; ++i) line += (i == 0 ? "" : " ") + Quoted(words[i]);
  return line;
}

std::string WriteJsonText(const ordered_json &json, const std::string &path) {
  return WriteFile(path, Dump(json, 2, false) + "\n");
}

std::string WritePageText(std::string page, ordered_json json, const Origin &origin, const std::string &path) {
  json["origin"] = {{"made", DateAndTime()}, {"version", MSLITE_VERSION}, {"command", origin.command},
                    {"file", origin.file},   {"bytes", origin.bytes},     {"sha256", origin.sha256}};
  const size_t at = page.find(kPlaceholder);
  return WriteFile(path, page.replace(at, sizeof kPlaceholder - 1, DumpForScript(json)));
}

}  // namespace mslite::benchmark
