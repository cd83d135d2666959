// The JSON file and the HTML page of --enableParallelPredict. The page is parallel.html with the JSON put into it.
#include <cmath>

#include "machine.h"
#include "parallel.h"
#include "report_parts.h"

namespace mslite::benchmark {
namespace {

using nlohmann::ordered_json;

constexpr const char kParallelPage[] = {
#include "parallel_html.inc"
};

// Rounded to a tenth of a microsecond, the resolution of the clock.
double Rounded(double ms) { return std::round(ms * 1e4) / 1e4; }

ordered_json ToJson(const ParallelResult &result) {
  const LoadSummary &summary = result.summary;
  const Statistics &s = summary.latency;
  ordered_json json;
  json["model"] = result.model;
  json["threads"] = result.threads;
  json["workers"] = result.workers;
  json["clients"] = result.clients;
  json["request_rate"] = result.request_rate > 0 ? ordered_json(result.request_rate) : ordered_json();
  json["isa"] = result.plan.isa;
  json["processor"] = ProcessorName();
  json["usable_cores"] = UsableCores();
  json["init_ms"] = result.init_ms;
  json["started"] = result.load.started;
  json["run_ms"] = summary.run_ms;
  json["answered"] = summary.answered;
  json["refused"] = summary.refused;
  json["refusal"] = result.refusal;
  json["other_bits"] = result.other_bits;
  json["requests_per_second"] = summary.throughput;
  json["latency_ms"] = {{"min", s.minimum}, {"p50", s.median},  {"p90", s.p90},
                        {"p99", s.p99},     {"max", s.maximum}, {"mean", s.mean}};
  json["latest_send_ms"] = summary.latest_ms;
  json["peak_memory_bytes"] = result.peak_memory;
  json["arena_bytes"] = result.plan.arena_bytes;
  json["packed_weight_bytes"] = result.plan.packed_bytes;
  json["inputs"] = Tensors(result.inputs, false);
  json["outputs"] = Tensors(result.outputs, true);
  ordered_json &requests = json["requests"];  // one array for each column
  for (const char *column : {"client", "due_ms", "sent_ms", "end_ms", "refused"})
    requests[column] = ordered_json::array();
  for (const Request &request : result.load.requests) {
    requests["client"].push_back(request.client);
    requests["due_ms"].push_back(Rounded(request.due_ms));
    requests["sent_ms"].push_back(Rounded(request.sent_ms));
    requests["end_ms"].push_back(Rounded(request.end_ms));
    requests["refused"].push_back(request.is_refused);
  }
  return json;
}

}  // namespace

std::string WriteParallelJson(const ParallelResult &result, const std::string &path) {
  return WriteJsonText(ToJson(result), path);
}

std::string WriteParallelHtml(const ParallelResult &result, const Origin &origin, const std::string &path) {
  return WritePageText({kParallelPage, sizeof kParallelPage}, ToJson(result), origin, path);
}

}  // namespace mslite::benchmark
