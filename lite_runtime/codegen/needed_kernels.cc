#include "codegen/needed_kernels.h"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "codegen/kernel_support_probe.h"
#include "model/bytes.h"
#include "model/load.h"
#include "model/parts.h"
#include "plan/choose_kernel.h"
#include "plan/cropped_kernels.h"
#include "plan/rewrite/rewrite.h"
#include "schema/ops_generated.h"

namespace mslite::codegen {
namespace {
void Add(const Graph &graph, std::map<int32_t, OperatorNeeds> *needs) {
  const auto add = [&](const Node &node) { (*needs)[node.op].kinds |= RequiredKernelKinds(graph, node); };
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t index : subgraph.nodes) {
      const Node &node = graph.nodes[static_cast<size_t>(index)];
      if (node.custom_type.empty()) add(node);
    }
    for (const Fusion &fusion : subgraph.fusions) add(fusion.call);
  }
}

void Probe(const Graph &graph, std::map<int32_t, OperatorNeeds> *needs) {
  KernelSupportProbe probe(graph);
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t index : subgraph.nodes) probe.Visit(graph.nodes[static_cast<size_t>(index)]);
    for (const Fusion &fusion : subgraph.fusions) probe.Visit(fusion.call);
  }
  for (auto &[op, need] : *needs) need.refusing = probe.Refusing(op);
}

// A cropped library does not export the functions that the training library needs.
Status RefuseKernelsForTraining(const Graph &graph) {
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t index : subgraph.nodes) {
      const Node &node = graph.nodes[static_cast<size_t>(index)];
      if (!node.custom_type.empty() || !OnlyTrainingHas(node.op)) continue;
      return Fail(mindspore::kLiteNotSupport,
                  "file '" + graph.file->name() + "': " + Describe(node) +
                      ": its kernels are in libmindspore-lite-train.so, which a cropped runtime cannot load: use the "
                      "full runtime for this model");
    }
  }
  return mindspore::kSuccess;
}
}  // namespace

Status NeedsOf(const std::string &path, ModelNeeds *needs) {
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Bytes::Map(path, &bytes));
  MSLITE_TRY(Load(std::move(bytes), &graph));
  // Loading reads all nodes of the file, including those that no graph contains and those that are rewritten.
  unpack::Arena arena;
  for (const schema::CNode *node : *schema::GetMetaGraph(graph->file->data())->nodes()) {
    int32_t op = 0;
    if (unpack::UnpackPrimitive(*node->primitive(), arena, &op) != nullptr) needs->operators[op];
  }
  Add(*graph, &needs->operators);
  MSLITE_TRY(RewriteGraph(graph.get(), [](const Node & /*node*/) { return false; }));
  MSLITE_TRY(RefuseKernelsForTraining(*graph));
  Add(*graph, &needs->operators);
  Probe(*graph, &needs->operators);
  // Rewriting the graph casts constants.
  needs->operators[MSLITE_OP_Cast].kinds |= MSLITE_KIND_FLOAT32 | MSLITE_KIND_OTHER;
  for (size_t part = 0; part < std::size(kPartNames); ++part) {
    if ((graph->parts >> part & 1U) != 0) needs->parts.emplace_back(kPartNames[part]);
  }
  return mindspore::kSuccess;
}
}  // namespace mslite::codegen
