// The JSON file and the HTML page. The page is report.html with the JSON put into it.
#include <map>

#include "machine.h"
#include "report_parts.h"
#include "result.h"

namespace mslite::benchmark {
namespace {

using nlohmann::ordered_json;

constexpr const char kReportPage[] = {
#include "report_html.inc"
};

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
  json["placement"] = ordered_json::array();
  for (const NodePlacement &node : result.placement.nodes) {
    json["placement"].push_back({{"node", node.node},
                                 {"op", node.op},
                                 {"engine", node.engine},
                                 {"part", node.part},
                                 {"reason", node.reason},
                                 {"flops", node.flops}});
  }
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

}  // namespace

std::string WriteJson(const Result &result, const std::string &path) { return WriteJsonText(ToJson(result), path); }

std::string WriteHtml(const Result &result, const Origin &origin, const std::string &path) {
  return WritePageText({kReportPage, sizeof kReportPage}, ToJson(result), origin, path);
}

}  // namespace mslite::benchmark
