#include "build_check.h"

#include <memory>

#include "api/session_options.h"
#include "model/bytes.h"
#include "model/load.h"
#include "plan/program.h"
#include "plan/rewrite/rewrite.h"

namespace mslite::python {
namespace {

// Reads and rewrites the graph; this does not depend on the sizes of inputs.
Status Open(const std::string &path, int64_t open_size, bool *is_open, std::shared_ptr<SharedModel> *model) {
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Bytes::Map(path, &bytes));
  MSLITE_TRY(Load(std::move(bytes), &graph));
  for (const int32_t input : graph->inputs) {
    for (int64_t &size : graph->tensors[static_cast<size_t>(input)].dims) {
      *is_open = *is_open || size < 0;
      if (size < 0) size = open_size;
    }
  }
  MSLITE_TRY(RewriteGraph(graph.get(), [](const Node & /*node*/) { return false; }));
  return SharedModel::Create(std::move(graph), model);
}

Status Plan(std::shared_ptr<SharedModel> model) {
  const auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  context->SetThreadNum(1);
  SessionOptions options;
  MSLITE_TRY(ReadContext(context, nullptr, &options));
  options.only_plans = true;
  std::unique_ptr<Session> session;
  return Session::Create(std::move(model), options, &session);
}

}  // namespace

std::pair<std::string, bool> CheckBuild(const std::filesystem::path &path, int64_t open_size) {
  std::shared_ptr<SharedModel> model;
  bool is_open = false;
  Status status = Open(path.string(), open_size, &is_open, &model);
  if (status.IsError()) return {status.GetErrDescription(), status != mindspore::kLiteMemoryFailed};
  status = Plan(std::move(model));
  if (status.IsOk()) return {"", true};
  // The operators may support another size, but a kernel that is not found is rarely found for other sizes.
  const bool is_final = is_open ? status == mindspore::kLiteNotFindOp : status != mindspore::kLiteMemoryFailed;
  return {status.GetErrDescription(), is_final};
}

}  // namespace mslite::python
