#include "include/api/serialization.h"

#include "api/graph_data.h"
#include "api/log.h"
#include "api/shared_models.h"

namespace mindspore {
Graph::Graph() = default;
Graph::Graph(const std::shared_ptr<GraphData> &graph_data) : graph_data_(graph_data) {}
Graph::Graph(std::shared_ptr<GraphData> &&graph_data) : graph_data_(std::move(graph_data)) {}
Graph::Graph(std::nullptr_t) {}
Graph::~Graph() = default;
enum ModelType Graph::ModelType() const { return graph_data_ == nullptr ? kUnknownType : kMindIR; }
bool Graph::operator==(std::nullptr_t) const { return graph_data_ == nullptr; }
bool Graph::operator!=(std::nullptr_t) const { return graph_data_ != nullptr; }

namespace {
template <typename Open>
Status LoadWith(ModelType type, const Key &key, Graph *graph, Open open) {
  return mslite::Logged(mslite::Guard([&]() -> Status {
    if (graph == nullptr) return Status(kLiteNullptr, "graph is null");
    if (key.len != 0) return Status(kLiteNotSupport, "encrypted models are not supported");
    if (type != kMindIR && type != kMindIR_Lite) return Status(kLiteNotSupport, "only .ms models are supported");
    auto data = std::make_shared<Graph::GraphData>();
    MSLITE_TRY(open(&data->model));
    *graph = Graph(std::move(data));
    return kSuccess;
  }));
}
}  // namespace

Status Serialization::Load(const void *model_data, size_t data_size, ModelType model_type, Graph *graph,
                           const Key &dec_key, const std::string &) {
  return LoadWith(model_type, dec_key, graph, [&](std::shared_ptr<mslite::SharedModel> *model) {
    return mslite::OpenModel(model_data, data_size, model);
  });
}

Status Serialization::Load(const std::string &file, ModelType model_type, Graph *graph, const Key &dec_key,
                           const std::string &) {
  const bool has_suffix = file.size() >= 3 && file.compare(file.size() - 3, 3, ".ms") == 0;
  return LoadWith(model_type, dec_key, graph, [&](std::shared_ptr<mslite::SharedModel> *model) {
    return mslite::OpenModel(has_suffix ? file : file + ".ms", model);
  });
}
}  // namespace mindspore
