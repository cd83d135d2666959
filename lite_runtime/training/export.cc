#include "training/export.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "model/load.h"
#include "schema/ops_objects.h"
#include "training/adapters.h"
#include "training/main_graph.h"
#include "training/quantize.h"
#include "training/trainable_constants.h"

namespace mslite {
namespace {
constexpr size_t kMaxBytes = size_t{1} << 31;

class Exporter {
 public:
  Exporter(const std::shared_ptr<const Bytes> &file, const VariableStore &variables)
      : file_(file), variables_(variables), meta_(schema::GetMetaGraph(file->data())->UnPack()) {}

  Status Run(const std::vector<std::string> &loss_names, const ExportSettings &settings, std::vector<uint8_t> *model) {
    MSLITE_TRY(Fits());
    MSLITE_TRY(LoadTrainableConstants(file_, &graph_));
    const bool is_changed = WriteConstants();
    if (!is_changed && !settings.inference_only && !settings.quantized_weights) {
      model->assign(file_->data(), file_->data() + file_->size());
      return mindspore::kSuccess;
    }
    if (settings.inference_only) {
      MSLITE_TRY(KeepForInference(loss_names, settings.outputs));
      DropDropout();
      MSLITE_TRY(MergeAdapters(*graph_, variables_, meta_.get()));
    }
    DropFills();
    if (settings.quantized_weights) MSLITE_TRY(QuantizeWeights(settings.inference_only, meta_.get()));
    DropUnused();
    flatbuffers::FlatBufferBuilder builder(1 << 16);
    builder.Finish(schema::MetaGraph::Pack(builder, meta_.get()), schema::MetaGraphIdentifier());
    model->assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    return mindspore::kSuccess;
  }

 private:
  // FlatBuffers aborts the process if a buffer grows too large.
  Status Fits() const {
    size_t bytes = file_->size();
    for (const auto &[name, state] : variables_.states) bytes += state.current.capacity;
    if (bytes < kMaxBytes) return mindspore::kSuccess;
    return Fail(mindspore::kLiteNotSupport, "file '" + file_->name() + "': the exported file would exceed 2 GiB");
  }

  // Writes constants that were loaded in another form or have changed. Returns whether any was written.
  bool WriteConstants() {
    bool is_changed = false;
    for (size_t i = 0; i < meta_->allTensors.size(); ++i) {
      schema::TensorT &written = *meta_->allTensors[i];
      const Tensor &read = graph_->tensors[i];
      const uint8_t *contents = VariableContents(read, variables_);
      const bool is_variable = contents != nullptr;
      const uint8_t *data = is_variable ? contents : read.data;
      const bool is_external = !written.externalData.empty();
      if (!is_variable && !is_external) continue;
      const bool is_same = read.size == 0 || std::memcmp(data, read.data, read.size) == 0;
      if (is_same && !is_external) continue;  // the Fill node or the packed bytes in the file are still valid
      written.data.clear();
      if (read.size != 0) written.data.assign(data, data + read.size);
      written.externalData.clear();
      written.dataType = read.type;
      written.dims.assign(read.dims.begin(), read.dims.end());
      written.nodeType = 0;
      written.quantParams.clear();
      written.quantClusters.clear();
      written.enableHuffmanCode = false;
      written.weightQuantCompressType = schema::WeightQuantCompressType_NONE;
      is_changed = true;
    }
    return is_changed;
  }

  // Keeps the nodes for inference; `names` are its outputs, or empty for the default.
  Status KeepForInference(const std::vector<std::string> &loss_names, const std::vector<std::string> &names) {
    PruneToInference(loss_names, graph_.get());
    SubGraph &main = graph_->subgraphs[0];
    if (!names.empty()) {
      main.outputs.clear();
      for (const std::string &name : names) MSLITE_TRY(AddOutput(name));
    }
    std::set<int32_t> used(main.outputs.begin(), main.outputs.end());
    std::vector<std::unique_ptr<schema::CNodeT>> kept;
    for (auto index = main.nodes.rbegin(); index != main.nodes.rend(); ++index) {
      const Node &node = graph_->nodes[static_cast<size_t>(*index)];
      const auto is_used = [&used](int32_t output) { return used.count(output) != 0; };
      if (static_cast<size_t>(*index) >= meta_->nodes.size() ||
          std::none_of(node.outputs.begin(), node.outputs.end(), is_used)) {
        continue;
      }
      used.insert(node.inputs.begin(), node.inputs.end());
      kept.push_back(std::move(meta_->nodes[static_cast<size_t>(*index)]));
    }
    meta_->nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
    meta_->inputIndex.erase(
        std::remove_if(meta_->inputIndex.begin(), meta_->inputIndex.end(),
                       [&used](uint32_t input) { return used.count(static_cast<int32_t>(input)) == 0; }),
        meta_->inputIndex.end());
    meta_->outputIndex.assign(main.outputs.begin(), main.outputs.end());
    return mindspore::kSuccess;
  }

  Status AddOutput(const std::string &name) {
    for (const int32_t index : graph_->subgraphs[0].nodes) {
      const Node &node = graph_->nodes[static_cast<size_t>(index)];
      for (const int32_t output : node.outputs) {
        if (graph_->tensors[static_cast<size_t>(output)].name != name && node.name != name) continue;
        graph_->subgraphs[0].outputs.push_back(output);
        return mindspore::kSuccess;
      }
    }
    return Fail(mindspore::kLiteParamInvalid,
                "file '" + file_->name() + "': the output '" + name + "' is not a tensor or node of inference");
  }

  // Removes Dropout: its readers read its input. A Dropout that computes an output is kept without its seed.
  void DropDropout() {
    std::map<uint32_t, uint32_t> given;
    std::vector<std::unique_ptr<schema::CNodeT>> kept;
    const auto resolve = [&given](uint32_t tensor) {
      const auto found = given.find(tensor);
      return found == given.end() ? tensor : found->second;
    };
    for (std::unique_ptr<schema::CNodeT> &node : meta_->nodes) {
      for (uint32_t &input : node->inputIndex) input = resolve(input);
      const bool is_dropout =
          node->primitive != nullptr && node->primitive->value.type == schema::PrimitiveType_Dropout;
      const bool is_output = is_dropout && std::find(meta_->outputIndex.begin(), meta_->outputIndex.end(),
                                                     node->outputIndex[0]) != meta_->outputIndex.end();
      if (is_dropout && !is_output) {
        given[node->outputIndex[0]] = node->inputIndex[0];
      } else {
        if (is_dropout) {
          node->inputIndex.resize(1);
          node->outputIndex.resize(1);
        }
        kept.push_back(std::move(node));
      }
    }
    meta_->nodes = std::move(kept);
  }

  // Removes Fill nodes whose results are constants now.
  void DropFills() {
    std::vector<std::unique_ptr<schema::CNodeT>> kept;
    for (std::unique_ptr<schema::CNodeT> &node : meta_->nodes) {
      const bool is_constant = !node->outputIndex.empty() && !meta_->allTensors[node->outputIndex[0]]->data.empty();
      if (!is_constant) kept.push_back(std::move(node));
    }
    meta_->nodes = std::move(kept);
  }

  // Removes tensors that no node uses any more, and updates the subgraph.
  void DropUnused() {
    std::set<uint32_t> used(meta_->inputIndex.begin(), meta_->inputIndex.end());
    used.insert(meta_->outputIndex.begin(), meta_->outputIndex.end());
    for (const std::unique_ptr<schema::CNodeT> &node : meta_->nodes) {
      used.insert(node->inputIndex.begin(), node->inputIndex.end());
      used.insert(node->outputIndex.begin(), node->outputIndex.end());
    }
    std::map<uint32_t, uint32_t> places;
    std::vector<std::unique_ptr<schema::TensorT>> kept;
    for (const uint32_t tensor : used) {
      places[tensor] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(meta_->allTensors[tensor]));
    }
    meta_->allTensors = std::move(kept);
    const auto place = [&places](std::vector<uint32_t> *tensors) {
      for (uint32_t &tensor : *tensors) tensor = places[tensor];
    };
    for (const std::unique_ptr<schema::CNodeT> &node : meta_->nodes) {
      place(&node->inputIndex);
      place(&node->outputIndex);
    }
    place(&meta_->inputIndex);
    place(&meta_->outputIndex);
    DescribeMainGraph(meta_.get());
  }

  const std::shared_ptr<const Bytes> &file_;
  const VariableStore &variables_;
  std::unique_ptr<schema::MetaGraphT> meta_;
  std::shared_ptr<Graph> graph_;
};
}  // namespace

Status ExportModel(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                   const VariableStore &variables, const ExportSettings &settings, std::vector<uint8_t> *model) {
  return Exporter(file, variables).Run(loss_names, settings, model);
}
}  // namespace mslite
