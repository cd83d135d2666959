#include "plan/rewrite/new_weights.h"

#include <cstring>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
constexpr size_t kListedNames = 5;

Status NoSuchConstant(const std::string &name, const Graph &graph) {
  std::string known;
  size_t listed = 0;
  for (const Tensor &tensor : graph.tensors) {
    if (!tensor.is_constant || tensor.name.empty()) continue;
    if (++listed > kListedNames) {
      known += ", ...";
      break;
    }
    known += (known.empty() ? "'" : ", '") + tensor.name + "'";
  }
  return Fail(mindspore::kLiteParamInvalid,
              "file '" + graph.file->name() + "': '" + name + "' is not a constant of the model; it has " +
                  (known.empty() ? "no named constant" : known) +
                  ". Conversion may have folded a weight of the source model into another one");
}

Status Check(const std::string &name, const NewWeight &weight, const Tensor &old) {
  if (weight.type != old.type) {
    return Fail(mindspore::kLiteParamInvalid,
                "weight '" + name + "' is " + TypeName(weight.type) + ", but the model has " + TypeName(old.type));
  }
  if (weight.size == old.size && weight.data != nullptr) return mindspore::kSuccess;
  return Fail(mindspore::kLiteParamInvalid,
              Format("weight '%.300s' has %zu bytes, but the model has %zu", name.c_str(), weight.size, old.size));
}
}  // namespace

Status SetNewWeights(const NewWeights &weights, Graph *graph) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < graph->tensors.size(); ++i) {
    if (graph->tensors[i].is_constant && graph->tensors[i].size > 0) places.emplace(graph->tensors[i].name, i);
  }
  for (const auto &[name, weight] : weights) {
    const auto place = places.find(name);
    if (name.empty() || place == places.end()) return NoSuchConstant(name, *graph);
    MSLITE_TRY(Check(name, weight, graph->tensors[place->second]));
  }
  for (const auto &[name, weight] : weights) {
    const size_t place = places[name];
    uint8_t *data = nullptr;
    int32_t index = 0;
    MSLITE_TRY(NewNodes(graph).AddConstant(name, weight.type, graph->tensors[place].dims, &data, &index));
    std::memcpy(data, weight.data, weight.size);
    graph->tensors[place].data = data;
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
