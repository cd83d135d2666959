#include "model/upgrade/upgrade.h"

#include <algorithm>
#include <cstring>

#include "model/loader.h"
#include "model/upgrade/attribute_semantics.h"
#include "model/upgrade/instance_norm.h"

namespace mslite {
namespace {
const Version kRecordsAlwaysValid = {1, 5, 0};  // from 1.5 on, all quantization parameters that are present are valid
const Version kQuantTypeWritten = {1, 3, 0};    // before 1.3, weight quantization must be guessed
const Version kTopKHasAxis = {1, 6, 0};         // before 1.6 it uses the last dimension
constexpr int32_t kOldUnknownActivation = 20;
constexpr int32_t kQuantWeight = 4;

// Up to 1.3 these numbers belonged to other operators.
const char *RemovedOperator(int32_t op) {
  switch (op) {
    case 32:
      return "ControlDepend";
    case 94:
      return "Merge";
    case 167:
      return "While";
    case 171:
      return "If";
    case 201:
      return "Attention of 1.3";
    default:
      return nullptr;
  }
}

// The stored scale. The default of an absent scale was 0 then and is 1 now.
struct OldRecord : private flatbuffers::Table {
  double scale() const { return GetField<double>(schema::QuantParam::VT_SCALE, 0.0); }
};

// Removes placeholder quantization parameters ("no quantization").
void DropPlaceholders(const schema::MetaGraph &meta, Graph *graph) {
  for (size_t i = 0; i < graph->tensors.size(); ++i) {
    const auto *records = meta.allTensors()->Get(static_cast<flatbuffers::uoffset_t>(i))->quantParams();
    if (records == nullptr) continue;
    Tensor &tensor = graph->tensors[i];
    tensor.quant.clear();
    tensor.corrections.clear();
    for (const auto *record : *records) {
      if (record->inited()) AddQuantParams(*record, reinterpret_cast<const OldRecord *>(record)->scale(), &tensor);
    }
  }
}

// Marks a node without a quantType whose only quantized inputs are constants as having quantized weights.
void GuessWeightQuantization(Graph *graph) {
  for (Node &node : graph->nodes) {
    if (node.quant_type != 0) continue;
    bool some = false;
    bool all_constant = true;
    for (const int32_t input : node.inputs) {
      const Tensor &tensor = graph->tensors[static_cast<size_t>(input)];
      if (tensor.quant.empty()) continue;
      some = true;
      all_constant = all_constant && tensor.is_constant;
    }
    if (some && all_constant) node.quant_type = kQuantWeight;
  }
}
}  // namespace

Status Upgrade(const schema::MetaGraph *meta, Graph *graph) {
  // A file without a readable version is treated as new, because only the writers below need these changes.
  const bool is_old =
      !graph->version_text.empty() && Version{} < graph->version && graph->version < kRecordsAlwaysValid;
  if (Version{} < graph->version && graph->version < kTopKHasAxis) ReadTopK(graph);
  ReadListOperands(graph);
  ReadNearest(graph);
  ReadScalarBias(graph);
  if (!is_old) {
    FindChannelsLast(graph);
    return mindspore::kSuccess;
  }
  ReadResizeOperands(graph);
  DropPlaceholders(*meta, graph);
  if (graph->version < kQuantTypeWritten) GuessWeightQuantization(graph);
  for (Node &node : graph->nodes) {
    if (const char *name = RemovedOperator(node.op); name != nullptr) {
      return Fail(mindspore::kLiteNotSupport, "file '" + graph->file->name() + "': node '" + node.name +
                                                  "': the operator " + name + " of " + graph->version_text +
                                                  " is no longer read; convert the original model again");
    }
    if (node.op == MSLITE_OP_ScatterNd && node.inputs.size() == 3) {
      std::rotate(node.inputs.begin(), node.inputs.begin() + 1, node.inputs.end());  // shape, indices, updates
    }
    if (node.op == MSLITE_OP_Activation) {
      auto *params = graph->arena.Make<mslite_Activation>();
      std::memcpy(params, node.params, sizeof *params);
      if (params->activation_type == kOldUnknownActivation) params->activation_type = 0;
      node.params = params;
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
