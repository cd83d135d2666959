// The JSON file and the HTML page. The page is report.html with the JSON put into it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "files.h"
#include "machine.h"
#include "result.h"

namespace mslite::benchmark {
namespace {

using nlohmann::ordered_json;

constexpr const char kPage[] = {
#include "report_html.inc"
};
constexpr const char kPlaceholder[] = "__RESULT__";

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

ordered_json Operators(const Result &result) {
  std::map<std::string, const StepInfo *> steps;
  for (const StepInfo &step : result.plan.steps) steps.emplace(step.name, &step);
  ordered_json list = ordered_json::array();
  for (const OperatorTime &op : result.operators) {
    const auto found = steps.find(op.name);
    ordered_json entry = {{"name", op.name}, {"type", op.type}, {"average_ms", op.total_ms / result.profiled_loops}};
    entry["calls"] = op.calls;
    entry["kernel"] = found == steps.end() ? "" : found->second->kernel;
    entry["flops"] = found == steps.end() ? 0 : found->second->flops;
    entry["bytes"] = found == steps.end() ? 0 : found->second->bytes;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json ToJson(const Result &result) {
  const Statistics &s = result.statistics;
  ordered_json json;
  json["model"] = result.model;
  json["threads"] = result.threads;
  json["isa"] = result.plan.isa;
  json["processor"] = ProcessorName();
  json["usable_cores"] = UsableCores();
  json["peak_gflops"] = result.peak_gflops;
  json["prepare_ms"] = result.prepare_ms;
  json["first_run_ms"] = result.first_run_ms;
  json["latency_ms"] = {{"min", s.minimum}, {"median", s.median}, {"p90", s.p90}, {"max", s.maximum}, {"mean", s.mean}};
  json["runs_ms"] = result.runs_ms;
  json["peak_memory_bytes"] = result.peak_memory;
  json["arena_bytes"] = result.plan.arena_bytes;
  json["packed_weight_bytes"] = result.plan.packed_bytes;
  json["inputs"] = Tensors(result.inputs, false);
  json["outputs"] = Tensors(result.outputs, true);
  json["operators"] = Operators(result);
  json["buffers"] = ordered_json::array();
  for (const BufferInfo &buffer : result.plan.buffers) {
    json["buffers"].push_back({{"tensor", buffer.tensor},
                               {"offset", buffer.offset},
                               {"bytes", buffer.bytes},
                               {"first_step", buffer.first_step},
                               {"last_step", buffer.last_step}});
  }
  return json;
}

// Names in a model file may be any bytes; what is not UTF-8 is replaced.
std::string Dump(const ordered_json &json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, ordered_json::error_handler_t::replace);
}

// The same for a <script>: of names nothing is left that could end or begin one, or a comment, or a line.
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

// Date and time in UTC, to the second; that of SOURCE_DATE_EPOCH where it is set, so that a page can be made again as
// it was.
std::string Now() {
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

// A word of a command line as a shell takes it.
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

std::string WriteJson(const Result &result, const std::string &path) {
  return WriteFile(path, Dump(ToJson(result), 2, false) + "\n");
}

std::string CommandLine(int count, const char *const *words) {
  std::string line;
  for (int i = 0; i < count; ++i) line += (i == 0 ? "" : " ") + Quoted(words[i]);
  return line;
}

std::string WriteHtml(const Result &result, const Origin &origin, const std::string &path) {
  ordered_json json = ToJson(result);
  json["origin"] = {{"made", Now()},       {"version", MSLITE_VERSION}, {"command", origin.command},
                    {"file", origin.file}, {"bytes", origin.bytes},     {"sha256", origin.sha256}};
  std::string page(kPage, sizeof kPage);
  const size_t at = page.find(kPlaceholder);
  return WriteFile(path, page.replace(at, sizeof kPlaceholder - 1, DumpForScript(json)));
}

}  // namespace mslite::benchmark
