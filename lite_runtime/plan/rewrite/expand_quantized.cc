#include "plan/rewrite/expand_quantized.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/dequantize.h"
#include "plan/quantized.h"
#include "plan/rewrite/exact_convolutions.h"
#include "plan/rewrite/integer_matmuls.h"
#include "plan/rewrite/needed_passes.h"
#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
// Returns true for operators whose third input is a bias. A quantized bias has the scale of input times weight.
bool HasBias(int32_t op) {
  return op == MSLITE_OP_Conv2DFusion || op == MSLITE_OP_Conv2dTransposeFusion || op == MSLITE_OP_Conv2DAddFusion ||
         op == MSLITE_OP_MatMulFusion || op == MSLITE_OP_FullConnection;
}

class QuantizedExpander {
 public:
  explicit QuantizedExpander(Graph *graph)
      : graph_(graph), new_(graph), dequantizer_(graph), products_(graph), exact_(graph) {}

  Status Expand(SubGraph *subgraph) {
    subgraph_ = subgraph;
    nodes_.clear();
    reals_.clear();
    without_integers_.clear();
    for (const int32_t index : subgraph->nodes) MSLITE_TRY(Visit(index));
    subgraph->nodes = std::move(nodes_);
    return mindspore::kSuccess;
  }

 private:
  Tensor &TensorAt(int32_t index) { return graph_->tensors[static_cast<size_t>(index)]; }
  Node &NodeAt(int32_t index) { return graph_->nodes[static_cast<size_t>(index)]; }

  bool IsOutput(int32_t index) const {
    return std::find(subgraph_->outputs.begin(), subgraph_->outputs.end(), index) != subgraph_->outputs.end();
  }

  bool IsQuantized(const Node &node) {
    const auto has_no_integers = [&](int32_t index) {
      return IsQuantizedIntegerType(TensorAt(index).type) && without_integers_.count(index) != 0;
    };
    return HasQuantizedOperands(*graph_, node) ||
           std::any_of(node.inputs.begin(), node.inputs.end(), has_no_integers) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), has_no_integers);
  }

  Status Visit(int32_t index) {
    const Node &node = NodeAt(index);
    if (node.op == MSLITE_OP_DynamicQuant) {
      RoundAtRunTime(index);
      return mindspore::kSuccess;
    }
    // A delegate supports the integers as they are.
    if (node.part >= 0 || !IsQuantized(node)) {
      nodes_.push_back(index);
      return mindspore::kSuccess;
    }
    // Integer kernels do not check the quantization parameters of the integers that they compute with.
    if (QuantizedUseOf(node.op) != QuantizedUse::kIgnores) {
      if (std::string problem = RecordsProblem(node, IsQuantizedIntegerType); !problem.empty()) {
        Keep(index, std::move(problem));
        return mindspore::kSuccess;
      }
    }
    if (products_.CanMultiply(node)) return products_.Multiply(index, &nodes_);
    if (exact_.CanMultiply(node)) return exact_.Multiply(index, &nodes_);
    switch (QuantizedUseOf(node.op)) {
      case QuantizedUse::kReadsQuantParams:
        return Cast(index);
      case QuantizedUse::kIgnores:
        Keep(index, "");
        return mindspore::kSuccess;
      case QuantizedUse::kMoves:
        if (!MovesIntegers(node)) return Compute(index, true);
        ShareRecords(node);
        nodes_.push_back(index);
        return mindspore::kSuccess;
      default:
        return Compute(index, false);
    }
  }

  // Returns whether a kernel supports the node's integers as they are.
  bool HasKernel(const Node &node) {
    // Before 1.8 the quantization parameters belonged to the input channels.
    const bool is_old = graph_->version < Version{1, 8, 0} && node.op == MSLITE_OP_Conv2dTransposeFusion;
    if (is_old && node.inputs.size() > 1 && TensorAt(node.inputs[1]).quant.size() > 1) return false;
    if (HasBias(node.op) && node.inputs.size() > 2 && !FitsElements(TensorAt(node.inputs[2]))) return false;
    std::vector<mslite_tensor> tensors;
    std::vector<const mslite_tensor *> operands;
    tensors.reserve(node.inputs.size() + node.outputs.size());
    for (const std::vector<int32_t> *list : {&node.inputs, &node.outputs}) {
      for (const int32_t index : *list) {
        if (index < 0) {
          operands.push_back(nullptr);
          continue;
        }
        const Tensor &tensor = TensorAt(index);
        if (without_integers_.count(index) != 0 || HasCorrections(tensor)) return false;
        tensors.push_back(KnownBeforeShapes(tensor));
        operands.push_back(&tensors.back());
      }
    }
    const mslite_node call = {node.op,
                              node.params,
                              static_cast<int32_t>(node.inputs.size()),
                              static_cast<int32_t>(node.outputs.size()),
                              operands.data(),
                              operands.data() + node.inputs.size(),
                              node.quant_type};
    return HasQuantizedKernel(call);
  }

  // Kernels do not read the quantization parameters of a bias, but a wrong number of them is an error in the file.
  static bool FitsElements(const Tensor &bias) {
    if (bias.quant.size() < 2) return true;
    return bias.dims.size() == 1 && bias.dims[0] == static_cast<int64_t>(bias.quant.size());
  }

  static mslite_tensor KnownBeforeShapes(const Tensor &tensor) {
    mslite_tensor known = {};
    known.type = tensor.type;
    known.rank = -1;
    known.known_count = -1;
    known.quant_count = static_cast<int32_t>(tensor.quant.size());
    known.quant = tensor.quant.data();
    if (!tensor.is_constant || tensor.dims.size() > MSLITE_MAX_RANK) return known;
    known.data = tensor.data;
    known.rank = static_cast<int32_t>(tensor.dims.size());
    std::copy(tensor.dims.begin(), tensor.dims.end(), known.dims);
    return known;
  }

  // Dequantizes a per-channel constant now: the kernel supports only a limited number of channels.
  Status Cast(int32_t index) {
    const Node &node = NodeAt(index);
    const bool is_simple = node.params != nullptr && node.inputs.size() == 1 && node.outputs.size() == 1;
    if (!is_simple || !TensorAt(node.inputs[0]).is_constant || TensorAt(node.inputs[0]).quant.size() < 2 ||
        static_cast<const mslite_QuantDTypeCast *>(node.params)->dst_t != MSLITE_FLOAT32) {
      Keep(index, RecordsProblem(node, [](int32_t type) { return type != MSLITE_FLOAT32; }));
      return mindspore::kSuccess;
    }
    const int64_t axis = static_cast<const mslite_QuantDTypeCast *>(node.params)->axis;
    const auto rank = static_cast<int32_t>(TensorAt(node.inputs[0]).dims.size());
    int32_t real = 0;
    MSLITE_TRY(dequantizer_.AlongAxis(node, 0, mslite_normalize_axis(axis, rank), &real));
    Tensor &target = TensorAt(node.outputs[0]);
    std::string name = std::move(target.name);
    target = TensorAt(real);
    target.name = std::move(name);
    return mindspore::kSuccess;
  }

  // Keeps the node as it is. `problem` is the reason why it cannot run, or empty.
  void Keep(int32_t index, std::string problem) {
    for (const int32_t input : NodeAt(index).inputs) {
      if (problem.empty() && without_integers_.count(input) != 0) {
        problem = "it reads the integers '" + TensorAt(input).name + "', but their scale is known only at run time";
      }
    }
    NodeAt(index).problem = std::move(problem);
    nodes_.push_back(index);
  }

  // Returns the problem with the quantization parameters of the operands for whose data types `counts` returns true.
  std::string RecordsProblem(const Node &node, bool (*counts)(int32_t)) {
    for (const std::vector<int32_t> *list : {&node.inputs, &node.outputs}) {
      for (const int32_t index : *list) {
        const Tensor &tensor = TensorAt(index);
        std::string problem = counts(tensor.type) ? QuantParamsProblem(tensor) : "";
        if (!problem.empty()) return problem;
      }
    }
    return "";
  }

  // Returns whether all tensors that the node moves are stored in the same way.
  bool MovesIntegers(const Node &node) {
    const Tensor *first = nullptr;
    const auto agrees = [&](int32_t index) {
      const Tensor &tensor = TensorAt(index);
      if (without_integers_.count(index) != 0) return false;
      if (!IsQuantizedIntegerType(tensor.type) || tensor.quant.empty()) return true;
      // Per-channel quantization parameters would have to move with the channels.
      if (tensor.quant.size() > 1) return false;
      if (first == nullptr) first = &tensor;
      return first->type == tensor.type &&
             SameRecords(first->quant.data(), first->quant.size(), tensor.quant.data(), tensor.quant.size());
    };
    if (!std::all_of(node.inputs.begin(), node.inputs.end(), agrees)) return false;
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](int32_t index) {
      return agrees(index) && (first == nullptr || TensorAt(index).type == first->type || TensorAt(index).type == 0);
    });
  }

  // Gives the results of a node that moves values the quantization parameters of its input, if the file has none for
  // them.
  void ShareRecords(const Node &node) {
    for (const int32_t input : node.inputs) {
      const Tensor &source = TensorAt(input);
      if (!IsQuantizedIntegerType(source.type) || source.quant.empty()) continue;
      for (const int32_t output : node.outputs) {
        Tensor &target = TensorAt(output);
        if (target.type == 0) target.type = source.type;
        if (target.type == source.type && target.quant.empty()) target.quant = source.quant;
      }
      return;
    }
  }

  Status Compute(int32_t index, bool moves) {
    // A result of DynamicQuant is read as float.
    Node as_stored = NodeAt(index);
    for (int32_t &input : as_stored.inputs) {
      if (without_integers_.count(input) != 0) input = reals_.at(input);
    }
    if (HasKernel(as_stored)) {
      NodeAt(index) = std::move(as_stored);
      nodes_.push_back(index);
      return mindspore::kSuccess;
    }
    Node changed = NodeAt(index);
    std::string problem;
    for (size_t i = 0; i < changed.inputs.size() && problem.empty(); ++i) {
      MSLITE_TRY(MakeReal(NodeAt(index), i, &changed.inputs[i], &problem));
    }
    std::vector<std::pair<int32_t, int32_t>> rounded;  // float tensor, integer tensor
    for (int32_t &output : changed.outputs) {
      const Tensor &tensor = TensorAt(output);
      if (!IsQuantizedIntegerType(tensor.type)) continue;
      const int32_t integer = output;
      if (tensor.quant.empty() && moves && !IsOutput(integer)) {
        output = reals_[integer] = AddReal(integer);
        without_integers_.insert(integer);
        continue;
      }
      if (problem.empty()) problem = ActivationProblem(tensor);
      if (!problem.empty()) break;
      output = AddReal(integer);
      rounded.emplace_back(output, integer);
    }
    if (!problem.empty()) {
      NodeAt(index).problem = problem;
      nodes_.push_back(index);
      return mindspore::kSuccess;
    }
    changed.quant_type = 0;
    NodeAt(index) = std::move(changed);
    nodes_.push_back(index);
    for (const auto &[real, integer] : rounded) AddCast(real, integer, "_quantize");
    return mindspore::kSuccess;
  }

  std::string ActivationProblem(const Tensor &tensor) {
    const std::string label = "its quantized operand '" + tensor.name + "' ";
    if (tensor.quant.empty()) return label + "has no quantization parameters";
    if (tensor.quant.size() > 1) return label + "is not a constant but has per-channel quantization parameters";
    return QuantParamsProblem(tensor);
  }

  // Sets `*input` to the float32 form of input `i` of the node if it is quantized.
  Status MakeReal(const Node &node, size_t i, int32_t *input, std::string *problem) {
    const int32_t integer = node.inputs[i];
    const Tensor &tensor = TensorAt(integer);
    if (tensor.is_constant && HasBias(node.op) && i == 2) {
      if (tensor.type != MSLITE_INT32 && tensor.type != MSLITE_INT64) return mindspore::kSuccess;
      const bool has_scale = !tensor.quant.empty() && std::all_of(tensor.quant.begin(), tensor.quant.end(),
                                                                  [](const auto &record) { return record.scale > 0; });
      return has_scale ? dequantizer_.Constant(node, i, input) : dequantizer_.Bias(node, input);
    }
    if (tensor.is_constant && !tensor.quant.empty() &&
        (IsQuantizedIntegerType(tensor.type) || IsRecurrentBias(node, tensor))) {
      return dequantizer_.Constant(node, i, input);
    }
    if (!IsQuantizedIntegerType(tensor.type)) return mindspore::kSuccess;
    const auto place = reals_.find(integer);
    if (place != reals_.end()) {
      *input = place->second;
      return mindspore::kSuccess;
    }
    *problem = ActivationProblem(tensor);
    if (!problem->empty()) return mindspore::kSuccess;
    const int32_t real = AddReal(integer);
    reals_[integer] = real;
    AddCast(integer, real, "_dequantize");
    *input = real;
    return mindspore::kSuccess;
  }

  static bool IsRecurrentBias(const Node &node, const Tensor &tensor) {
    return (node.op == MSLITE_OP_LSTM || node.op == MSLITE_OP_GRU) && tensor.type == MSLITE_INT32;
  }

  // Decides the form of DynamicQuant's results for their readers. Matmuls and convolutions that sum integers, and graph
  // outputs, read the integers. Depthwise and transposed convolutions whose sums are exact read the integers as
  // float32. All others read the dequantized values.
  void RoundAtRunTime(int32_t index) {
    Node node = NodeAt(index);
    const auto *params = static_cast<const mslite_DynamicQuant *>(node.params);
    if (node.outputs.empty() || params == nullptr || params->dst_type == MSLITE_FLOAT32) {
      nodes_.push_back(index);
      return;
    }
    const int32_t integer = node.outputs[0];
    without_integers_.insert(integer);
    bool gives_integers = IsOutput(integer);
    bool gives_steps = false;
    bool gives_reals = false;
    for (const int32_t other : subgraph_->nodes) {
      const Node &reader = NodeAt(other);
      if (std::find(reader.inputs.begin(), reader.inputs.end(), integer) == reader.inputs.end()) continue;
      (products_.Fits(reader, node) ? gives_integers : exact_.Fits(reader, node) ? gives_steps : gives_reals) = true;
    }
    if (gives_integers) {
      products_.KeepRanges(index);
      nodes_.push_back(index);
    }
    if (gives_steps) nodes_.push_back(exact_.AddRounding(node));
    if (!gives_reals && (gives_integers || gives_steps)) return;
    const int32_t real = AddReal(integer);
    auto *changed = graph_->arena.Make<mslite_DynamicQuant>();
    *changed = *params;
    changed->dst_type = MSLITE_FLOAT32;
    node.params = changed;
    node.outputs = {real};
    nodes_.push_back(new_.AddNode(std::move(node)));
    reals_[integer] = real;
  }

  int32_t AddReal(int32_t integer) { return new_.AddLike(integer, MSLITE_FLOAT32, "_real"); }

  void AddCast(int32_t from, int32_t to, const char *suffix) {
    const bool rounds = TensorAt(from).type == MSLITE_FLOAT32;
    Node cast;
    cast.name = TensorAt(rounds ? to : from).name + suffix;
    cast.op = MSLITE_OP_QuantDTypeCast;
    auto *params = graph_->arena.Make<mslite_QuantDTypeCast>();
    params->src_t = TensorAt(from).type;
    params->dst_t = TensorAt(to).type;
    cast.params = params;
    cast.inputs = {from};
    cast.outputs = {to};
    nodes_.push_back(new_.AddNode(std::move(cast)));
  }

  Graph *graph_;
  NewNodes new_;
  Dequantizer dequantizer_;
  IntegerMatmuls products_;
  ExactConvolutions exact_;
  const SubGraph *subgraph_ = nullptr;
  std::vector<int32_t> nodes_;          // of the subgraph, rewritten
  std::map<int32_t, int32_t> reals_;    // quantized tensor -> its float32 copy
  std::set<int32_t> without_integers_;  // tensors that exist as float32 only
};
}  // namespace

Status ExpandQuantized(Graph *graph) {
  QuantizedExpander expander(graph);
  for (SubGraph &subgraph : graph->subgraphs) MSLITE_TRY(expander.Expand(&subgraph));
  return mindspore::kSuccess;
}
}  // namespace mslite
