// Loads and checks the nodes.
#include <set>

#include "cropped.h"
#include "model/loader.h"
#include "model/operands.h"

namespace mslite {
namespace {
constexpr uint32_t kMaximumOperands = 4096;

Status LoadIndices(const Loader &loader, const flatbuffers::Vector<uint32_t> *indices, const Node &node,
                   const char *what, std::vector<int32_t> *result) {
  if (indices == nullptr) return mindspore::kSuccess;
  if (indices->size() > kMaximumOperands) {
    return loader.Error(Describe(node) + Format(": %u %s", indices->size(), what));
  }
  for (const uint32_t index : *indices) {
    if (index >= loader.graph->tensors.size()) {
      return loader.Error(Describe(node) +
                          Format(": %s refer to tensor %u of %zu", what, index, loader.graph->tensors.size()));
    }
    result->push_back(static_cast<int32_t>(index));
  }
  return mindspore::kSuccess;
}
}  // namespace

Status LoadNodes(Loader *loader) {
  const auto *sources = loader->meta->nodes();
  if (sources == nullptr) return loader->Error("no nodes");
  Graph *graph = loader->graph;
  graph->nodes.reserve(sources->size());
  std::string cropped;
  for (size_t i = 0; i < sources->size(); ++i) {
    const schema::CNode *source = sources->Get(static_cast<flatbuffers::uoffset_t>(i));
    Node node;
    node.name = source->name() == nullptr ? Format("#%zu", i) : CleanText(source->name()->str());
    if (source->primitive() == nullptr || source->primitive()->value() == nullptr) {
      return loader->Error("node '" + node.name + "': no operator");
    }
    node.primitive = source->primitive();
    node.params = unpack::UnpackPrimitive(*source->primitive(), graph->arena, &node.op);
    if (const char *attribute = graph->arena.TakeRefused(); attribute != nullptr) {
      return loader->Error(Describe(node) + ": attribute '" + attribute + "' holds a number beyond 32 bits");
    }
    const bool is_cropped = mslite_cropped.is_cropped != 0 && node.params == nullptr && node.op != MSLITE_OP_Custom;
    if (is_cropped) cropped += "\n  " + Describe(node) + ": it has no kernel for " + OperatorName(node.op);
    if (const auto *custom = source->primitive()->value_as_Custom(); custom != nullptr && node.op == MSLITE_OP_Custom) {
      node.custom_type = custom->type() == nullptr ? "(no type)" : CleanText(custom->type()->str());
    }
    MSLITE_TRY(LoadIndices(*loader, source->inputIndex(), node, "inputs", &node.inputs));
    MSLITE_TRY(LoadIndices(*loader, source->outputIndex(), node, "outputs", &node.outputs));
    const std::set<int32_t> unique(node.outputs.begin(), node.outputs.end());
    if (unique.size() != node.outputs.size()) return loader->Error(Describe(node) + ": lists an output twice");
    for (const int32_t output : node.outputs) {
      if (graph->tensors[static_cast<size_t>(output)].is_constant) {
        return loader->Error(Describe(node) + ": writes a constant");
      }
    }
    node.quant_type = static_cast<int32_t>(source->quantType());
    if (node.quant_type < 0 || node.quant_type > 6) {
      return loader->Error(Describe(node) + Format(": unknown quantType %d", static_cast<int>(node.quant_type)));
    }
    // Older names of the same quantization types.
    if (node.quant_type == 1 || node.quant_type == 3) node.quant_type = 5;
    if (node.quant_type == 2) node.quant_type = 4;
    graph->nodes.push_back(std::move(node));
  }
  if (!cropped.empty()) return Fail(mindspore::kLiteNotFindOp, CroppedText(*graph, cropped));
  return mindspore::kSuccess;
}

Status CheckOperands(const Loader &loader) {
  const auto check = [&](const Node &node, size_t count, int32_t least, const char *what) -> Status {
    if (least < 0 || count >= static_cast<size_t>(least)) return mindspore::kSuccess;
    return loader.Error(Describe(node) + Format(": has %zu %s, but needs at least %d", count, what, least));
  };
  for (const SubGraph &subgraph : loader.graph->subgraphs) {
    for (const int32_t index : subgraph.nodes) {
      const Node &node = loader.graph->nodes[static_cast<size_t>(index)];
      // Graphs without inputs or outputs may be called; these calls are checked when they are planned.
      if (node.op == MSLITE_OP_PartialFusion || node.op == MSLITE_OP_Call) continue;
      MSLITE_TRY(check(node, node.inputs.size(), MinInputs(node.op), "inputs"));
      MSLITE_TRY(check(node, node.outputs.size(), MinOutputs(node.op), "outputs"));
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
