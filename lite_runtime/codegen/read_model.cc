#include "codegen/read_model.h"

#include <utility>

#include "model/bytes.h"
#include "model/load.h"
#include "plan/rewrite/rewrite.h"

namespace mslite::codegen {

Status ReadModel(const std::string &path, std::shared_ptr<SharedModel> *model) {
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Bytes::Map(path, &bytes));
  MSLITE_TRY(Load(std::move(bytes), &graph));
  MSLITE_TRY(RewriteGraph(graph.get(), [](const Node & /*node*/) { return false; }));
  return SharedModel::Create(std::move(graph), model);
}

}  // namespace mslite::codegen
