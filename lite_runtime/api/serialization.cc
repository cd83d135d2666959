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
Status LoadWith(ModelType type, const Key &key, const std::string &mode, Graph *graph, Open open) {
  return mslite::Logged(mslite::Guard([&]() -> Status {
    if (graph == nullptr) return Status(kLiteNullptr, "graph is null");
    if (type != kMindIR && type != kMindIR_Lite) return Status(kLiteNotSupport, "only .ms models are supported");
    auto data = std::make_shared<Graph::GraphData>();
    const std::string library;
    const mslite::Decryption decryption{key, mode, library};
    mslite::OpenSettings settings;
    if (key.len != 0) settings.decryption = &decryption;
    MSLITE_TRY(open(settings, &data->model));
    *graph = Graph(std::move(data));
    return kSuccess;
  }));
}
}  // namespace

Status Serialization::Load(const void *model_data, size_t data_size, ModelType model_type, Graph *graph,
                           const Key &dec_key, const std::string &dec_mode) {
  return LoadWith(model_type, dec_key, dec_mode, graph,
                  [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                    return mslite::OpenModel(model_data, data_size, settings, model);
                  });
}

Status Serialization::Load(const std::string &file, ModelType model_type, Graph *graph, const Key &dec_key,
                           const std::string &dec_mode) {
  const bool has_suffix = file.size() >= 3 && file.compare(file.size() - 3, 3, ".ms") == 0;
  return LoadWith(model_type, dec_key, dec_mode, graph,
                  [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                    return mslite::OpenModel(has_suffix ? file : file + ".ms", settings, model);
                  });
}
}  // namespace mindspore
