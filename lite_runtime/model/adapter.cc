#include "model/adapter.h"

#include "model/load.h"

namespace mslite {
namespace {
Status Error(const Graph &graph, const std::string &reason) {
  return Fail(mindspore::kLiteGraphFileError, "file '" + graph.file->name() + "': " + reason);
}

Status Check(const Graph &graph, const Tensor &tensor) {
  if (tensor.name.empty()) return Error(graph, "a constant of the adapter has no name");
  if (!tensor.is_constant || tensor.size == 0) return Error(graph, "'" + tensor.name + "' of the adapter has no data");
  if (tensor.type == MSLITE_FLOAT32) return mindspore::kSuccess;
  return Error(graph, "'" + tensor.name + "' of the adapter is " + TypeName(tensor.type) + "; adapters are float32");
}

Status CheckPair(const Graph &graph, const std::string &weight, const Adapter::Pair &pair) {
  if (pair.a == nullptr || pair.b == nullptr) {
    return Error(graph, "the adapter of '" + weight + "' has only one of its two matrices");
  }
  const std::vector<int64_t> &a = pair.a->dims;
  const std::vector<int64_t> &b = pair.b->dims;
  if (a.size() == 2 && b.size() == 2 && a[0] == b[1]) return mindspore::kSuccess;
  return Error(graph, "the adapter of '" + weight + "' has matrices of shapes " + DimsText(a.data(), a.size()) +
                          " and " + DimsText(b.data(), b.size()) + ", but must have [rank, in] and [out, rank]");
}
}  // namespace

std::string AdaptedWeight(const std::string &name, const std::string &end) {
  const bool has_end = name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  return has_end ? name.substr(0, name.size() - end.size()) : std::string();
}

Status ReadAdapter(const std::shared_ptr<const Bytes> &file, Adapter *adapter) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(LoadConstants(file, kAdapterGraph, &graph));
  for (const Tensor &tensor : graph->tensors) {
    MSLITE_TRY(Check(*graph, tensor));
    const std::string of_a = AdaptedWeight(tensor.name, kAdapterA);
    const std::string of_b = AdaptedWeight(tensor.name, kAdapterB);
    const Tensor *&place = !of_a.empty()   ? adapter->pairs[of_a].a
                           : !of_b.empty() ? adapter->pairs[of_b].b
                                           : adapter->contents[tensor.name];
    if (place != nullptr) return Error(*graph, "'" + tensor.name + "' occurs twice in the adapter");
    place = &tensor;
  }
  for (const auto &[weight, pair] : adapter->pairs) MSLITE_TRY(CheckPair(*graph, weight, pair));
  if (adapter->pairs.empty() && adapter->contents.empty()) return Error(*graph, "the adapter is empty");
  adapter->graph = std::move(graph);
  return mindspore::kSuccess;
}
}  // namespace mslite
