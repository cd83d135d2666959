#include "training/transfer.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/load.h"
#include "model/optimizers.h"
#include "plan/frame.h"
#include "schema/ops_objects.h"
#include "training/main_graph.h"

namespace mslite {
namespace {
constexpr size_t kMaxBytes = size_t{1} << 31;
constexpr char kPrefix[] = "backbone/";
const std::vector<int32_t> kAsItIs = {};
const std::vector<int32_t> kToNchw = {0, 3, 1, 2};
const std::vector<int32_t> kToNhwc = {0, 2, 3, 1};

using Model = std::unique_ptr<schema::MetaGraphT>;

// Unpacks a model so that its parts can be joined.
Status Unpack(const std::shared_ptr<const Bytes> &file, Model *model, std::shared_ptr<Graph> *graph) {
  MSLITE_TRY(LoadTraining(file, graph));  // checks all of it
  *model = Model(schema::GetMetaGraph(file->data())->UnPack());
  const std::string label = "file '" + file->name() + "': transfer learning ";
  if ((*model)->subGraph.size() > 1) {
    return Fail(mindspore::kLiteNotSupport, label + "does not support control flow");
  }
  for (const auto &tensor : (*model)->allTensors) {
    if (tensor->externalData.empty()) continue;
    return Fail(mindspore::kLiteNotSupport, label + "does not support constants in a side file");
  }
  return mindspore::kSuccess;
}

bool Fits(int32_t size, int32_t given) { return size == given || size < 0 || given < 0; }

bool HasShape(const schema::TensorT &tensor, const std::vector<int32_t> &dims) {
  return tensor.dims.size() == dims.size() && std::equal(dims.begin(), dims.end(), tensor.dims.begin(), Fits);
}

std::string TextOf(const schema::TensorT &tensor) {
  const std::vector<int64_t> dims(tensor.dims.begin(), tensor.dims.end());
  return "'" + tensor.name + "' (" + TypeName(tensor.dataType) + " " + DimsText(dims.data(), dims.size()) + ")";
}

class Joiner {
 public:
  Joiner(Model backbone, Model head) : backbone_(std::move(backbone)), head_(std::move(head)) {}

  Status Run() {
    if (backbone_->version != head_->version) {
      return Fail(mindspore::kLiteNotSupport, "the backbone was made by " + backbone_->version + ", the head by " +
                                                  head_->version + "; convert both with the same version");
    }
    Rename();
    const auto shift = static_cast<uint32_t>(head_->allTensors.size());
    std::move(backbone_->allTensors.begin(), backbone_->allTensors.end(), std::back_inserter(head_->allTensors));
    std::vector<std::unique_ptr<schema::CNodeT>> nodes;
    for (auto &node : backbone_->nodes) {
      for (uint32_t &input : node->inputIndex) input += shift;
      for (uint32_t &output : node->outputIndex) output += shift;
      nodes.push_back(std::move(node));
    }
    std::vector<uint32_t> inputs;
    for (const uint32_t input : backbone_->inputIndex) inputs.push_back(input + shift);
    for (const uint32_t output : backbone_->outputIndex) MSLITE_TRY(Connect(output + shift, &nodes));
    std::move(head_->nodes.begin(), head_->nodes.end(), std::back_inserter(nodes));
    head_->nodes = std::move(nodes);
    inputs.insert(inputs.end(), head_->inputIndex.begin(), head_->inputIndex.end());
    head_->inputIndex = std::move(inputs);
    DescribeMainGraph(head_.get());
    return mindspore::kSuccess;
  }

  Status Pack(std::shared_ptr<const Bytes> *joined) const {
    flatbuffers::FlatBufferBuilder builder(1 << 16);
    builder.Finish(schema::MetaGraph::Pack(builder, head_.get()), schema::MetaGraphIdentifier());
    return Bytes::Copy(builder.GetBufferPointer(), builder.GetSize(), joined);
  }

 private:
  // Makes names unique: variables and nodes are identified by them.
  void Rename() {
    std::set<std::string> taken;
    for (const auto &tensor : head_->allTensors) taken.insert(tensor->name);
    for (const auto &node : head_->nodes) taken.insert(node->name);
    for (const auto &tensor : backbone_->allTensors) {
      if (taken.count(tensor->name) != 0) tensor->name.insert(0, kPrefix);
    }
    for (const auto &node : backbone_->nodes) {
      if (taken.count(node->name) != 0) node->name.insert(0, kPrefix);
    }
  }

  // Connects an output of the backbone, which `nodes` compute, to an input of the head.
  Status Connect(uint32_t output, std::vector<std::unique_ptr<schema::CNodeT>> *nodes) {
    const schema::TensorT &given = *head_->allTensors[output];
    for (const std::vector<int32_t> &axes : {kAsItIs, kToNchw, kToNhwc}) {
      if (axes != kAsItIs && given.dims.size() != axes.size()) continue;
      std::vector<int32_t> dims = given.dims;
      for (size_t i = 0; i < axes.size(); ++i) dims[i] = given.dims[static_cast<size_t>(axes[i])];
      const auto input = std::find_if(head_->inputIndex.begin(), head_->inputIndex.end(), [&](uint32_t index) {
        const schema::TensorT &tensor = *head_->allTensors[index];
        return tensor.dataType == given.dataType && HasShape(tensor, dims);
      });
      if (input == head_->inputIndex.end()) continue;
      Replace(*input, axes == kAsItIs ? output : AddTranspose(output, *input, axes, nodes));
      head_->inputIndex.erase(input);
      return mindspore::kSuccess;
    }
    std::string inputs;
    for (const uint32_t index : head_->inputIndex) {
      inputs += (inputs.empty() ? "" : ", ") + TextOf(*head_->allTensors[index]);
    }
    return Fail(mindspore::kLiteParamInvalid, "no input of the head matches the backbone's output " + TextOf(given) +
                                                  "; inputs of the head: " + (inputs.empty() ? "none" : inputs));
  }

  uint32_t AddTranspose(uint32_t output, uint32_t input, const std::vector<int32_t> &axes,
                        std::vector<std::unique_ptr<schema::CNodeT>> *nodes) {
    const std::string name = head_->allTensors[output]->name + (axes == kToNchw ? "/to_nchw" : "/to_nhwc");
    auto order = std::make_unique<schema::TensorT>();
    order->name = name + "/axes";
    order->dataType = MSLITE_INT32;
    order->dims = {4};
    const auto *bytes = reinterpret_cast<const uint8_t *>(axes.data());
    order->data.assign(bytes, bytes + axes.size() * sizeof(int32_t));
    auto result = std::make_unique<schema::TensorT>(*head_->allTensors[input]);
    result->name = name;
    const auto place = static_cast<uint32_t>(head_->allTensors.size());
    head_->allTensors.push_back(std::move(order));
    head_->allTensors.push_back(std::move(result));
    auto node = std::make_unique<schema::CNodeT>();
    node->name = name;
    node->primitive = std::make_unique<schema::PrimitiveT>();
    node->primitive->value.Set(schema::TransposeT());
    node->inputIndex = {output, place};
    node->outputIndex = {place + 1};
    nodes->push_back(std::move(node));
    return place + 1;
  }

  void Replace(uint32_t input, uint32_t read) {
    for (const auto &node : head_->nodes) std::replace(node->inputIndex.begin(), node->inputIndex.end(), input, read);
    std::replace(head_->outputIndex.begin(), head_->outputIndex.end(), input, read);
  }

  Model backbone_;
  Model head_;
};
}  // namespace

Status JoinModels(const std::shared_ptr<const Bytes> &backbone, const std::shared_ptr<const Bytes> &head,
                  std::shared_ptr<const Bytes> *joined) {
  if (backbone->size() + head->size() >= kMaxBytes) {
    return Fail(mindspore::kLiteNotSupport, "backbone and head together exceed 2 GiB");
  }
  Model first;
  Model second;
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(Unpack(head, &second, &graph));
  MSLITE_TRY(Unpack(backbone, &first, &graph));
  for (const Node &node : graph->nodes) {
    if (FindOptimizer(node.op) == nullptr) continue;
    return Fail(mindspore::kLiteNotSupport,
                "the backbone is a training model: " + Describe(node) + " updates weights; export it for inference");
  }
  Joiner joiner(std::move(first), std::move(second));
  MSLITE_TRY(joiner.Run());
  return joiner.Pack(joined);
}
}  // namespace mslite
