#include "training/adapters.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "model/adapter.h"
#include "schema/ops_objects.h"
#include "training/trainable_constants.h"

namespace mslite {
namespace {
// Returns the current values of a constant of the graph.
std::vector<float> Values(const Tensor &tensor, const VariableStore &variables) {
  const uint8_t *contents = VariableContents(tensor, variables);
  const uint8_t *data = contents == nullptr ? tensor.data : contents;
  std::vector<float> values(tensor.size / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), data, values.size() * sizeof(float));
  return values;
}

class Merger {
 public:
  Merger(const Graph &graph, const VariableStore &variables, schema::MetaGraphT *model)
      : graph_(graph), variables_(variables), model_(*model) {}

  Status Run() {
    for (const auto &node : model_.nodes) {
      const std::string weight = AdaptedWeight(Operand(*node, 1), kAdapterB);
      if (TypeOf(*node) == schema::PrimitiveType_MatMulFusion && !weight.empty()) MSLITE_TRY(Merge(weight, node.get()));
    }
    for (const uint32_t weight : merged_) {
      for (const auto &node : model_.nodes) {
        const bool reads = std::count(node->inputIndex.begin(), node->inputIndex.end(), weight) != 0;
        if (reads && products_.count(node.get()) == 0) return Error(model_.allTensors[weight]->name);
      }
    }
    auto &nodes = model_.nodes;
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                               [this](const auto &node) { return dropped_.count(node.get()) != 0; }),
                nodes.end());
    return mindspore::kSuccess;
  }

 private:
  // The nodes of one matmul with an adapter.
  struct Parts {
    schema::CNodeT *base = nullptr;
    schema::CNodeT *a = nullptr;
    schema::CNodeT *scaled = nullptr;
    schema::CNodeT *sum = nullptr;
  };

  static int TypeOf(const schema::CNodeT &node) {
    return node.primitive == nullptr ? schema::PrimitiveType_NONE : node.primitive->value.type;
  }
  // Returns the name of an input, or an empty string.
  std::string Operand(const schema::CNodeT &node, size_t place) const {
    return place < node.inputIndex.size() ? model_.allTensors[node.inputIndex[place]]->name : std::string();
  }
  Status Error(const std::string &weight) const {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph_.file->name() + "': the adapter of '" + weight +
                    "' was not made by converter_lite and cannot be merged into the weight");
  }

  schema::CNodeT *Producer(const schema::CNodeT &node, size_t place) const {
    const auto found = std::find_if(model_.nodes.begin(), model_.nodes.end(), [&](const auto &other) {
      return place < node.inputIndex.size() && other->outputIndex.size() == 1 &&
             other->outputIndex[0] == node.inputIndex[place];
    });
    return found == model_.nodes.end() ? nullptr : found->get();
  }

  // Finds the nodes of the adapter whose sum has `b` as its second input.
  Parts Find(const std::string &weight, const schema::CNodeT &b) const {
    Parts parts;
    parts.scaled = Producer(b, 0);
    if (parts.scaled != nullptr && Operand(*parts.scaled, 1) == kAdapterScale) parts.a = Producer(*parts.scaled, 0);
    if (parts.a != nullptr && Operand(*parts.a, 1) != weight + kAdapterA) parts.a = nullptr;
    for (const auto &node : model_.nodes) {
      if (TypeOf(*node) != schema::PrimitiveType_AddFusion || Producer(*node, 1) != &b) continue;
      parts.sum = node.get();
      parts.base = Producer(*node, 0);
    }
    if (parts.base != nullptr && Operand(*parts.base, 1) != weight) parts.base = nullptr;
    return parts;
  }

  Status Merge(const std::string &weight, schema::CNodeT *b) {
    const Parts parts = Find(weight, *b);
    if (parts.a == nullptr || parts.base == nullptr) return Error(weight);
    const bool is_matrix = TypeOf(*parts.base) == schema::PrimitiveType_MatMulFusion;
    const bool is_turned = !is_matrix || parts.base->primitive->value.AsMatMulFusion()->transpose_b;
    parts.base->outputIndex = parts.sum->outputIndex;
    dropped_.insert({parts.a, parts.scaled, parts.sum, b});
    products_.insert(parts.base);
    const uint32_t place = parts.base->inputIndex[1];
    if (!merged_.insert(place).second) return mindspore::kSuccess;  // several matmuls share the weight
    return AddTo(place, {parts.a->inputIndex[1], b->inputIndex[1], parts.scaled->inputIndex[1]}, is_turned);
  }

  // Adds scale * B * A, [out, in], to the weight, which has that shape or is transposed.
  Status AddTo(uint32_t place, const std::vector<uint32_t> &operands, bool is_turned) {
    const Tensor &weight = graph_.tensors[place];
    const Tensor &a = graph_.tensors[operands[0]];
    const Tensor &b = graph_.tensors[operands[1]];
    if (weight.type != MSLITE_FLOAT32) {
      return Fail(mindspore::kLiteNotSupport, "file '" + graph_.file->name() + "': the weight '" + weight.name +
                                                  "' is quantized, so that its adapter cannot be merged; "
                                                  "ExportAdapter writes only the adapter");
    }
    const auto fits = [](const Tensor &tensor, size_t size) {
      return tensor.type == MSLITE_FLOAT32 && tensor.size == size * sizeof(float);
    };
    if (weight.dims.size() != 2 || a.dims.size() != 2) return Error(weight.name);
    const auto in = static_cast<size_t>(weight.dims[is_turned ? 1 : 0]);
    const auto out = static_cast<size_t>(weight.dims[is_turned ? 0 : 1]);
    const auto rank = static_cast<size_t>(a.dims[0]);
    if (!fits(weight, in * out) || !fits(a, rank * in) || !fits(b, out * rank) ||
        !fits(graph_.tensors[operands[2]], 1)) {
      return Error(weight.name);
    }
    std::vector<float> values = Values(weight, variables_);
    const std::vector<float> of_a = Values(a, variables_);
    const std::vector<float> of_b = Values(b, variables_);
    const float scale = Values(graph_.tensors[operands[2]], variables_)[0];
    for (size_t column = 0; column < out; ++column) {
      for (size_t row = 0; row < in; ++row) {
        float sum = 0.0f;
        for (size_t k = 0; k < rank; ++k) sum += of_b[column * rank + k] * of_a[k * in + row];
        values[is_turned ? column * in + row : row * out + column] += scale * sum;
      }
    }
    schema::TensorT &written = *model_.allTensors[place];
    written.data.resize(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(written.data.data(), values.data(), written.data.size());
    return mindspore::kSuccess;
  }

  const Graph &graph_;
  const VariableStore &variables_;
  schema::MetaGraphT &model_;
  std::set<const schema::CNodeT *> dropped_;
  std::set<const schema::CNodeT *> products_;
  std::set<uint32_t> merged_;
};

std::unique_ptr<schema::TensorT> Constant(const Tensor &tensor, const std::vector<float> &values) {
  auto constant = std::make_unique<schema::TensorT>();
  constant->name = tensor.name;
  constant->dataType = MSLITE_FLOAT32;
  constant->dims.assign(tensor.dims.begin(), tensor.dims.end());
  constant->data.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(constant->data.data(), values.data(), constant->data.size());
  return constant;
}
}  // namespace

Status MergeAdapters(const Graph &graph, const VariableStore &variables, schema::MetaGraphT *model) {
  return Merger(graph, variables, model).Run();
}

Status ExportAdapter(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &names,
                     const VariableStore &variables, std::vector<uint8_t> *adapter) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(LoadTrainableConstants(file, &graph));
  std::map<std::string, const Tensor *> constants;
  for (const Tensor &tensor : graph->tensors) {
    if (tensor.is_constant && tensor.type == MSLITE_FLOAT32) constants.emplace(tensor.name, &tensor);
  }
  const auto is_b = [](const std::string &name) { return !AdaptedWeight(name, kAdapterB).empty(); };
  const auto found = constants.find(kAdapterScale);
  if (found == constants.end() || found->second->size != sizeof(float) ||
      std::none_of(names.begin(), names.end(), is_b)) {
    return Fail(mindspore::kLiteNotSupport, "file '" + file->name() +
                                                "': the model has no adapters; converter_lite --trainModel=true adds "
                                                "them with lora_rank in [train_param]");
  }
  const float scale = Values(*found->second, variables)[0];
  schema::MetaGraphT model;
  model.name = kAdapterGraph;
  model.version = graph->version_text;
  for (const std::string &name : names) {
    const auto constant = constants.find(name);
    if (constant == constants.end()) {
      return Fail(mindspore::kLiteGraphFileError,
                  "file '" + file->name() + "': '" + name + "' is not a float32 constant");
    }
    const Tensor &tensor = *constant->second;
    std::vector<float> values = Values(tensor, variables);
    if (is_b(name)) {
      for (float &value : values) value *= scale;
    }
    model.allTensors.push_back(Constant(tensor, values));
  }
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  builder.Finish(schema::MetaGraph::Pack(builder, &model), schema::MetaGraphIdentifier());
  adapter->assign(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  return mindspore::kSuccess;
}
}  // namespace mslite
