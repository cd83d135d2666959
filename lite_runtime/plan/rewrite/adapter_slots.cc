#include "plan/rewrite/adapter_slots.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
class Slots {
 public:
  Slots(const Adapter &adapter, Graph *graph) : adapter_(adapter), graph_(*graph), add_(graph) {}

  Status Run() {
    std::map<std::string, int32_t> places;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const Tensor &tensor = graph_.tensors[i];
      if (tensor.is_constant && tensor.size > 0) places.emplace(tensor.name, static_cast<int32_t>(i));
    }
    for (const auto &[name, pair] : adapter_.pairs) {
      const auto place = places.find(name);
      if (place == places.end()) return Missing(name);
      MSLITE_TRY(Adapt(place->second, pair));
    }
    for (const auto &[name, tensor] : adapter_.contents) {
      const auto place = places.find(name);
      if (place == places.end()) return Missing(name);
      const Tensor &own = TensorAt(place->second);
      if (own.type != MSLITE_FLOAT32 || own.dims != tensor->dims) return Mismatch(own, *tensor);
      ReplaceBy(place->second);
    }
    return mindspore::kSuccess;
  }

 private:
  Node &NodeAt(int32_t index) { return graph_.nodes[static_cast<size_t>(index)]; }
  Tensor &TensorAt(int32_t index) { return graph_.tensors[static_cast<size_t>(index)]; }

  std::string Intro() const {
    return "adapter '" + adapter_.graph->file->name() + "' does not belong to model '" + graph_.file->name() + "': ";
  }
  Status Missing(const std::string &name) const {
    return Fail(mindspore::kLiteParamInvalid,
                Intro() + "it changes '" + name +
                    "', which is not a constant that the model reads. Names are given by the " +
                    "conversion: convert both from the same source with the same options");
  }
  Status Mismatch(const Tensor &own, const Tensor &given) const {
    return Fail(mindspore::kLiteParamInvalid, Intro() + "'" + given.name + "' is " +
                                                  DimsText(given.dims.data(), given.dims.size()) + ", but '" +
                                                  own.name + "' of the model is " + TypeName(own.type) + " " +
                                                  DimsText(own.dims.data(), own.dims.size()));
  }
  Status Unsupported(const Node &node, const std::string &reason) const {
    return Fail(mindspore::kLiteNotSupport,
                "file '" + graph_.file->name() + "': " + Describe(node) + " does not support an adapter: " + reason);
  }

  // Returns the nodes that run and read the tensor.
  std::set<int32_t> ReadersOf(int32_t tensor) const {
    std::set<int32_t> readers;
    for (const SubGraph &subgraph : graph_.subgraphs) {
      for (const int32_t index : subgraph.nodes) {
        const std::vector<int32_t> &inputs = graph_.nodes[static_cast<size_t>(index)].inputs;
        if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) readers.insert(index);
      }
    }
    return readers;
  }

  // Adds a variable with this name and initial value, in the graphs whose nodes will read it.
  int32_t AddVariable(const std::string &name, int32_t initial, const std::set<int32_t> &readers) {
    const int32_t value = add_.AddLike(initial, MSLITE_FLOAT32, "/read");
    auto *params = graph_.arena.Make<mslite_ReadVariable>();
    char *text = graph_.arena.MakeArray<char>(name.size() + 1);
    std::memcpy(text, name.c_str(), name.size());
    params->variable = text;
    Node read;
    read.name = TensorAt(value).name;
    read.op = MSLITE_OP_ReadVariable;
    read.params = params;
    read.inputs = {initial};
    read.outputs = {value};
    const int32_t index = add_.AddNode(std::move(read));
    for (SubGraph &subgraph : graph_.subgraphs) {
      const bool reads = std::any_of(subgraph.nodes.begin(), subgraph.nodes.end(),
                                     [&readers](int32_t node) { return readers.count(node) != 0; });
      if (reads) subgraph.nodes.insert(subgraph.nodes.begin(), index);
    }
    return value;
  }

  // Adds a variable of zeros with the shape of a matrix of the adapter.
  Status AddMatrix(const Tensor &like, const std::set<int32_t> &readers, int32_t *value) {
    uint8_t *data = nullptr;
    int32_t initial = 0;
    MSLITE_TRY(add_.AddConstant(like.name + "/first", MSLITE_FLOAT32, like.dims, &data, &initial));
    std::memset(data, 0, like.size);
    *value = AddVariable(like.name, initial, readers);
    return mindspore::kSuccess;
  }

  void ReplaceBy(int32_t constant) {
    const std::set<int32_t> readers = ReadersOf(constant);
    const std::string name = TensorAt(constant).name;  // a copy: adding tensors may move the others
    const int32_t value = AddVariable(name, constant, readers);
    for (const int32_t reader : readers) {
      std::replace(NodeAt(reader).inputs.begin(), NodeAt(reader).inputs.end(), constant, value);
    }
  }

  // ---- matmuls ----

  static bool IsTurned(const Node &node) {
    return node.op == MSLITE_OP_FullConnection || static_cast<const mslite_MatMulFusion *>(node.params)->transpose_b;
  }

  Status CheckProduct(const Node &node, int32_t weight, const Adapter::Pair &pair) {
    const bool is_product = node.op == MSLITE_OP_FullConnection || node.op == MSLITE_OP_MatMulFusion;
    if (!is_product || node.inputs[0] == weight || node.inputs[1] != weight) {
      return Unsupported(
          node, "it reads the weight '" + TensorAt(weight).name + "', but not as the second operand of a MatMul");
    }
    const bool turns_rows =
        node.op == MSLITE_OP_MatMulFusion && static_cast<const mslite_MatMulFusion *>(node.params)->transpose_a;
    if (turns_rows) return Unsupported(node, "it transposes its first input");
    if (TensorAt(node.inputs[0]).type != MSLITE_FLOAT32) {
      return Unsupported(node, std::string("it computes in ") + TypeName(TensorAt(node.inputs[0]).type) +
                                   ". Use a float model, or one with weight quantization only");
    }
    const std::vector<int64_t> &dims = TensorAt(weight).dims;
    const size_t in = IsTurned(node) ? 1 : 0;
    if (dims.size() != 2 || dims[in] != pair.a->dims[1]) return Mismatch(TensorAt(weight), *pair.a);
    return dims[1 - in] == pair.b->dims[0] ? Status(mindspore::kSuccess) : Mismatch(TensorAt(weight), *pair.b);
  }

  Status Adapt(int32_t weight, const Adapter::Pair &pair) {
    const std::set<int32_t> readers = ReadersOf(weight);
    if (readers.empty()) return Missing(TensorAt(weight).name);
    for (const int32_t reader : readers) MSLITE_TRY(CheckProduct(NodeAt(reader), weight, pair));
    int32_t a = 0;
    int32_t b = 0;
    MSLITE_TRY(AddMatrix(*pair.a, readers, &a));
    MSLITE_TRY(AddMatrix(*pair.b, readers, &b));
    for (const int32_t reader : readers) AddProducts(reader, a, b);
    return mindspore::kSuccess;
  }

  int32_t AddValue(const std::string &name) { return add_.AddValue(name, MSLITE_FLOAT32); }

  int32_t AddProduct(const std::string &name, int32_t x, int32_t matrix, int32_t output) {
    Node product;
    product.name = name;
    product.op = MSLITE_OP_MatMulFusion;
    auto *params = graph_.arena.Make<mslite_MatMulFusion>();
    params->transpose_b = true;
    product.params = params;
    product.inputs = {x, matrix};
    product.outputs = {output};
    return add_.AddNode(std::move(product));
  }

  // Adds the matmul x A^T. If the reader is a fully connected layer, which flattens x to rows, the copy is one, too.
  int32_t AddFirst(int32_t reader, int32_t a, int32_t output) {
    const std::string name = NodeAt(reader).name + "/lora/A";
    const int32_t x = NodeAt(reader).inputs[0];
    const int32_t index = AddProduct(name, x, a, output);
    if (NodeAt(reader).op == MSLITE_OP_MatMulFusion) return index;
    auto *params = graph_.arena.Make<mslite_FullConnection>();
    *params = *static_cast<const mslite_FullConnection *>(NodeAt(reader).params);
    params->has_bias = false;
    params->activation_type = 0;
    NodeAt(index).op = MSLITE_OP_FullConnection;
    NodeAt(index).params = params;
    return index;
  }

  // Removes the activation from a matmul and returns it.
  int32_t TakeActivation(Node *node) {
    int32_t activation = 0;
    if (node->op == MSLITE_OP_FullConnection) {
      auto *params = graph_.arena.Make<mslite_FullConnection>();
      *params = *static_cast<const mslite_FullConnection *>(node->params);
      std::swap(activation, params->activation_type);
      node->params = params;
    } else {
      auto *params = graph_.arena.Make<mslite_MatMulFusion>();
      *params = *static_cast<const mslite_MatMulFusion *>(node->params);
      std::swap(activation, params->activation_type);
      node->params = params;
    }
    if (activation != 0) node->primitive = nullptr;
    return activation;
  }

  void AddProducts(int32_t reader, int32_t a, int32_t b) {
    const std::string name = NodeAt(reader).name + "/lora";
    const int32_t result = NodeAt(reader).outputs[0];
    const int32_t plain = add_.AddLike(result, MSLITE_FLOAT32, "/base");
    const int32_t thin = AddValue(name + "/A");
    const int32_t added = AddValue(name + "/B");
    const int32_t activation = TakeActivation(&NodeAt(reader));
    const int32_t sum = activation == 0 ? result : AddValue(name + "/sum");
    NodeAt(reader).outputs[0] = plain;
    std::vector<int32_t> fresh = {AddFirst(reader, a, thin), AddProduct(name + "/B", thin, b, added)};
    Node addition;
    addition.name = name;
    addition.op = MSLITE_OP_AddFusion;
    addition.params = graph_.arena.Make<mslite_AddFusion>();
    addition.inputs = {plain, added};
    addition.outputs = {sum};
    fresh.push_back(add_.AddNode(std::move(addition)));
    if (activation != 0) fresh.push_back(add_.AddActivation(name + "/activation", activation, sum, result));
    for (SubGraph &subgraph : graph_.subgraphs) {
      const auto place = std::find(subgraph.nodes.begin(), subgraph.nodes.end(), reader);
      if (place != subgraph.nodes.end()) subgraph.nodes.insert(std::next(place), fresh.begin(), fresh.end());
    }
  }

  const Adapter &adapter_;
  Graph &graph_;
  NewNodes add_;
};
}  // namespace

Status AddAdapterSlots(const Adapter &adapter, Graph *graph) { return Slots(adapter, graph).Run(); }

std::string SlotsText(const Adapter &adapter) {
  std::string text;
  // With its length, so that a name cannot be confused with several entries.
  const auto add = [&text](const std::string &name, const std::vector<int64_t> &dims) {
    text += std::to_string(name.size()) + ":" + name + DimsText(dims.data(), dims.size()) + "\n";
  };
  for (const auto &[name, pair] : adapter.pairs) {
    for (const Tensor *matrix : {pair.a, pair.b}) add(matrix->name, matrix->dims);
  }
  for (const auto &[name, tensor] : adapter.contents) add(name, tensor->dims);
  return text;
}
}  // namespace mslite
