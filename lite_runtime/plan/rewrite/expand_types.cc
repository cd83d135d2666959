#include "plan/rewrite/expand_types.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "model/dequantize.h"
#include "plan/kernel_types.h"
#include "plan/quantized.h"
#include "plan/rewrite/needed_passes.h"
#include "plan/rewrite/new_nodes.h"
#include "plan/shapes.h"

namespace mslite {
namespace {
// A placeholder for contents that are not read.
const uint8_t kNothing[64] = {};

class TypeExpander {
 public:
  TypeExpander(Graph *graph, const std::function<bool(const Node &)> &keeps)
      : graph_(graph), new_(graph), keeps_(keeps) {}

  Status Expand(SubGraph *subgraph) {
    if (!HasOtherTypes(*subgraph)) return mindspore::kSuccess;
    subgraph_ = subgraph;
    nodes_.clear();
    facts_.clear();
    cast_.clear();
    unrounded_.clear();
    decoded_.clear();
    for (const int32_t index : subgraph->nodes) MSLITE_TRY(Visit(index));
    for (const int32_t output : subgraph->outputs) Round(output);
    subgraph->nodes = std::move(nodes_);
    return mindspore::kSuccess;
  }

 private:
  Tensor &TensorAt(int32_t index) { return graph_->tensors[static_cast<size_t>(index)]; }

  bool HasOtherTypes(const SubGraph &subgraph) {
    return std::any_of(subgraph.nodes.begin(), subgraph.nodes.end(), [this](int32_t index) {
      return mslite::HasOtherTypes(*graph_, graph_->nodes[static_cast<size_t>(index)]);
    });
  }

  // Returns the known properties of a tensor: from shape inference, otherwise from the file.
  const mslite_tensor &FactsOf(int32_t index) {
    const auto [place, is_new] = facts_.try_emplace(index, UnknownTensor());
    mslite_tensor &facts = place->second;
    if (!is_new || index < 0) return facts;
    const Tensor &tensor = TensorAt(index);
    facts.type = tensor.type;
    facts.quant_count = static_cast<int32_t>(tensor.quant.size());
    facts.quant = tensor.quant.data();
    if (!tensor.has_rank && tensor.dims.empty() && !tensor.is_constant) return facts;
    facts.rank = static_cast<int32_t>(tensor.dims.size());
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      facts.dims[i] = tensor.dims[i] < 0 ? next_symbol_-- : tensor.dims[i];
    }
    if (!tensor.is_constant) return facts;
    facts.data = tensor.data == nullptr ? kNothing : tensor.data;
    FillKnown(&facts);
    return facts;
  }

  // Returns whether a constant with quantization parameters is dequantized for a node that computes on floats.
  bool IsDecoded(const Node &node, int32_t index) {
    return index >= 0 && TensorAt(index).is_constant && !TensorAt(index).quant.empty() && !IsQuantized(node);
  }

  const mslite_tensor &OperandOf(const Node &node, int32_t index) {
    if (!IsDecoded(node, index)) return FactsOf(index);
    const auto [place, is_new] = decoded_.try_emplace(index, FactsOf(index));
    mslite_tensor &facts = place->second;
    if (!is_new) return facts;
    facts.type = MSLITE_FLOAT32;
    facts.data = kNothing;
    facts.quant = nullptr;
    facts.quant_count = 0;
    facts.known_count = -1;
    return facts;
  }

  std::vector<const mslite_tensor *> OperandsOf(const Node &node) {
    std::vector<const mslite_tensor *> facts;  // pointers to facts_, whose elements never move
    facts.reserve(node.inputs.size());
    for (const int32_t input : node.inputs) facts.push_back(&OperandOf(node, input));
    return facts;
  }

  bool Infer(const Node &node, std::vector<mslite_tensor> *outputs) {
    outputs->assign(node.outputs.size(), {});
    return InferShapes(node.op, node.params, OperandsOf(node), outputs, &next_symbol_).ok();
  }

  bool IsQuantized(const Node &node) {
    if (node.op == MSLITE_OP_QuantDTypeCast || node.op == MSLITE_OP_DynamicQuant) return false;
    const auto has_records = [this](int32_t index) {
      return index >= 0 && !TensorAt(index).is_constant && !TensorAt(index).quant.empty();
    };
    return IsQuantizedKind(node.quant_type) || std::any_of(node.inputs.begin(), node.inputs.end(), has_records) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), has_records);
  }

  Status Visit(int32_t index) {
    Node node = graph_->nodes[static_cast<size_t>(index)];
    if (node.op == MSLITE_OP_QuantDTypeCast) NameFloat32(&node);
    std::vector<mslite_tensor> results;
    const bool is_known = node.params != nullptr && node.problem.empty() && Infer(node, &results);
    const bool stays = KeepsItsTypes(node.op) || IsQuantized(node) || keeps_(node);
    CallTypes types;
    std::vector<int32_t> expected;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int32_t declared = TensorAt(node.outputs[i]).type;
      const bool is_declared =
          declared == MSLITE_FLOAT16 && (node.op == MSLITE_OP_QuantDTypeCast || IsOutput(node.outputs[i]));
      expected.push_back(is_known && !is_declared ? results[i].type : declared);
    }
    // Inputs that were computed in float32 are read as float32.
    Node real = node;
    for (int32_t &input : real.inputs) {
      if (const auto place = unrounded_.find(input); place != unrounded_.end()) input = place->second;
    }
    if (!stays && node.params != nullptr && FindKernelTypes(node.op, node.params, OperandsOf(real), expected, &types)) {
      return Rewrite(index, std::move(real), types, expected);
    }
    for (const int32_t input : node.inputs) Round(input);
    nodes_.push_back(index);
    for (size_t i = 0; is_known && i < node.outputs.size(); ++i) Tell(node.outputs[i], results[i]);
    return mindspore::kSuccess;
  }

  // Weights stored as float16 are read as float32, and their readers may be as well. Outputs have the data type in the
  // file.
  bool IsOutput(int32_t index) {
    return std::find(subgraph_->outputs.begin(), subgraph_->outputs.end(), index) != subgraph_->outputs.end();
  }

  // Sets the attributes of QuantDTypeCast, which name the data types that it casts between.
  void NameFloat32(Node *node) {
    if (node->params == nullptr) return;
    auto *params = graph_->arena.Make<mslite_QuantDTypeCast>();
    *params = *static_cast<const mslite_QuantDTypeCast *>(node->params);
    if (params->src_t == MSLITE_FLOAT16) params->src_t = MSLITE_FLOAT32;
    if (params->dst_t == MSLITE_FLOAT16) params->dst_t = MSLITE_FLOAT32;
    node->params = params;
  }

  Status Rewrite(int32_t index, Node node, const CallTypes &types, const std::vector<int32_t> &expected) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (OperandOf(node, node.inputs[i]).type != types.inputs[i]) {
        MSLITE_TRY(CastInput(types.inputs[i], &node.inputs[i]));
      }
    }
    std::vector<mslite_tensor> results;
    Infer(node, &results);
    std::vector<std::pair<int32_t, int32_t>> rounded;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int32_t output = node.outputs[i];
      if (expected[i] == 0 || expected[i] == types.outputs[i]) {
        Tell(output, results[i]);
        continue;
      }
      node.outputs[i] = AddAs(output, types.outputs[i]);
      Tell(node.outputs[i], results[i]);
      results[i].type = expected[i];
      Tell(output, results[i]);
      TensorAt(output).type = expected[i];
      if (types.outputs[i] == MSLITE_FLOAT32 && IsRealType(expected[i])) {
        unrounded_[output] = node.outputs[i];
      } else {
        rounded.emplace_back(node.outputs[i], output);
      }
    }
    graph_->nodes[static_cast<size_t>(index)] = std::move(node);
    nodes_.push_back(index);
    for (const auto &[wide, narrow] : rounded) AddCast(wide, narrow);
    return mindspore::kSuccess;
  }

  void Tell(int32_t index, const mslite_tensor &facts) { facts_[index] = facts; }

  // Replaces `*input` by a tensor with its elements as `type`. All readers share the cast.
  Status CastInput(int32_t type, int32_t *input) {
    const auto [place, is_new] = cast_.try_emplace({*input, type}, 0);
    if (is_new) {
      place->second = AddAs(*input, type);
      mslite_tensor facts = FactsOf(*input);
      if (TensorAt(*input).is_constant) {
        MSLITE_TRY(CastElements(*input, place->second));
        facts.data = TensorAt(place->second).data;
      } else {
        AddCast(*input, place->second);
      }
      facts.type = type;
      if (type == MSLITE_FLOAT32) facts.known_count = -1;
      Tell(place->second, facts);
    }
    *input = place->second;
    return mindspore::kSuccess;
  }

  Status CastElements(int32_t from, int32_t to) {
    std::vector<uint8_t> elements;
    const int32_t type = TensorAt(to).type;
    // Cannot fail: FindKernelTypes has checked the cast.
    if (!CastConstant(FactsOf(from), type, &elements)) return mindspore::kLiteError;
    const auto size = static_cast<size_t>(mslite_type_size(type));
    uint8_t *data = nullptr;
    MSLITE_TRY(AllocateConstant(graph_, TensorAt(to).name, static_cast<int64_t>(elements.size() / size),
                                static_cast<int32_t>(size), &data));
    std::copy(elements.begin(), elements.end(), data);
    Tensor &target = TensorAt(to);
    target.data = data;
    target.size = elements.size();
    target.is_constant = true;
    return mindspore::kSuccess;
  }

  // Casts a float32 value to the tensor's own data type.
  void Round(int32_t index) {
    const auto place = unrounded_.find(index);
    if (place == unrounded_.end()) return;
    AddCast(place->second, index);
    unrounded_.erase(place);
  }

  int32_t AddAs(int32_t like, int32_t type) { return new_.AddLike(like, type, std::string("_") + TypeName(type)); }

  void AddCast(int32_t from, int32_t to) {
    Tensor kind;
    kind.name = TensorAt(to).name + "_type";
    kind.type = MSLITE_INT32;
    kind.has_rank = kind.is_constant = true;
    kind.dims = {1};
    auto *number = graph_->arena.Make<int32_t>();
    *number = TensorAt(to).type;
    kind.data = reinterpret_cast<const uint8_t *>(number);
    kind.size = sizeof(int32_t);
    Node cast;
    cast.name = TensorAt(to).name + "_cast";
    cast.op = MSLITE_OP_Cast;
    cast.params = graph_->arena.Make<mslite_Cast>();
    cast.inputs = {from, new_.Add(std::move(kind))};
    cast.outputs = {to};
    nodes_.push_back(new_.AddNode(std::move(cast)));
  }

  Graph *graph_;
  NewNodes new_;
  const std::function<bool(const Node &)> &keeps_;
  const SubGraph *subgraph_ = nullptr;
  int64_t next_symbol_ = MSLITE_SYMBOL_LIMIT - 1;
  std::vector<int32_t> nodes_;                           // of the subgraph, rewritten
  std::unordered_map<int32_t, mslite_tensor> facts_;     // per tensor that was visited
  std::unordered_map<int32_t, mslite_tensor> decoded_;   // constants as float32
  std::map<std::pair<int32_t, int32_t>, int32_t> cast_;  // tensor and data type -> its cast
  std::map<int32_t, int32_t> unrounded_;  // tensor -> its float32 values; the tensor itself is not computed
};
}  // namespace

Status ExpandTypes(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  TypeExpander expander(graph, keeps);
  for (SubGraph &subgraph : graph->subgraphs) MSLITE_TRY(expander.Expand(&subgraph));
  return mindspore::kSuccess;
}
}  // namespace mslite
