#include "training/training_graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "model/load.h"
#include "model/optimizers.h"
#include "plan/rewrite/new_nodes.h"
#include "schema/ops_generated.h"
#include "training/batch_norm.h"
#include "training/lstm_gradients.h"
#include "training/trainable_constants.h"

namespace mslite {
namespace {
constexpr char kLearningRateName[] = "learning_rate";  // the converter's name of it
constexpr size_t kSgdStat = 5;                         // input of SGD: a single value
constexpr int32_t kSeedSize = 2;                       // the number of the layer, and of the step

bool IsAssignment(int32_t op) { return op == MSLITE_OP_Assign || op == MSLITE_OP_AssignAdd; }
bool Changes(const Node &node) { return IsAssignment(node.op) || FindOptimizer(node.op) != nullptr; }

class TrainingGraphBuilder {
 public:
  TrainingGraphBuilder(const std::vector<std::string> &loss_names, bool with_predictions, TrainingGraph *training)
      : loss_names_(loss_names),
        with_predictions_(with_predictions),
        training_(*training),
        graph_(*training->graph),
        file_tensors_(schema::GetMetaGraph(graph_.file->data())->allTensors()->size()),
        main_(graph_.subgraphs[0]) {}

  Status Run() {
    if (graph_.subgraphs.size() != 1) {
      return Fail(mindspore::kLiteNotSupport,
                  "file '" + graph_.file->name() + "': training graphs with control flow are not supported");
    }
    MSLITE_TRY(FindOutputs());
    const std::vector<int32_t> nodes = main_.nodes;
    for (const int32_t index : nodes) {
      if (Changes(NodeAt(index))) MSLITE_TRY(ReadOperands(index));
    }
    ReadScheduledRate();
    UseBatchStatistics(&graph_);
    MSLITE_TRY(JoinLstmGradients(&graph_));
    for (const int32_t index : nodes) SettleShapes(index);
    for (const int32_t index : nodes) {
      if (FindOptimizer(NodeAt(index).op) != nullptr) MSLITE_TRY(ConvertOptimizer(index));
      if (IsAssignment(NodeAt(index).op)) ConvertAssignment(index);
      if (NodeAt(index).op == MSLITE_OP_FusedBatchNorm) MSLITE_TRY(ConvertBatchNorm(index));
      if (NodeAt(index).op == MSLITE_OP_Dropout) MSLITE_TRY(ConvertDropout(index));
    }
    if (training_.weights.empty()) {
      return Fail(mindspore::kLiteGraphFileError,
                  "file '" + graph_.file->name() +
                      "': no optimizer (Adam, AdamWeightDecay, SGD, ApplyMomentum): this is not a training model; "
                      "converter_lite --trainModel=true makes one");
    }
    for (const TrainedWeight &weight : training_.weights) main_.outputs.push_back(weight.gradient);
    graph_.outputs = main_.outputs;
    Order();
    return mindspore::kSuccess;
  }

 private:
  Node &NodeAt(int32_t index) { return graph_.nodes[static_cast<size_t>(index)]; }
  Tensor &TensorAt(int32_t index) { return graph_.tensors[static_cast<size_t>(index)]; }

  Status Error(const Node &node, const std::string &reason) const {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph_.file->name() + "': " + Describe(node) + ": " + reason);
  }

  // Finds the losses: the outputs of the graph that no optimizer computes, or the results of the last loss node.
  Status FindOutputs() {
    std::set<int32_t> dummies;
    const Node *loss = nullptr;
    for (const int32_t index : main_.nodes) {
      const Node &node = NodeAt(index);
      if (Changes(node)) dummies.insert(node.outputs.begin(), node.outputs.end());
      if (IsLoss(node, loss_names_)) loss = &node;
    }
    if (loss == nullptr) {
      std::string names;
      for (const std::string &name : loss_names_) names += (names.empty() ? "'" : ", '") + name + "'";
      return Fail(mindspore::kLiteGraphFileError, "file '" + graph_.file->name() +
                                                      "': no node is the loss: its name must contain one of " + names +
                                                      " (TrainCfg::SetLossName)");
    }
    std::vector<int32_t> outputs;
    for (const int32_t output : main_.outputs) {
      if (dummies.count(output) == 0) outputs.push_back(output);
    }
    if (outputs.empty()) outputs.push_back(loss->outputs[0]);
    training_.loss_count = outputs.size();
    if (with_predictions_) {
      const std::vector<int32_t> predictions = InferenceOutputs(loss_names_, graph_);
      for (const int32_t prediction : predictions) {
        training_.predictions.push_back(TensorAt(prediction).name);
        outputs.push_back(Copy(prediction));
      }
    }
    main_.outputs = std::move(outputs);
    return mindspore::kSuccess;
  }

  // Copies an inner tensor to an output, because mixed precision rounds inner tensors and does not round outputs.
  int32_t Copy(int32_t tensor) {
    NewNodes made(&graph_);
    auto *number = graph_.arena.Make<int32_t>();
    *number = TensorAt(tensor).type;
    Tensor type;
    type.name = TensorAt(tensor).name + "/type";
    type.type = MSLITE_INT32;
    type.has_rank = type.is_constant = true;
    type.dims = {1};
    type.data = reinterpret_cast<const uint8_t *>(number);
    type.size = sizeof(int32_t);
    Node copy;
    copy.name = TensorAt(tensor).name + "/prediction";
    copy.op = MSLITE_OP_Cast;
    copy.params = graph_.arena.Make<mslite_Cast>();
    copy.inputs = {tensor, made.Add(std::move(type))};
    copy.outputs = {made.AddLike(tensor, TensorAt(tensor).type, "/prediction")};
    const int32_t result = copy.outputs[0];
    const auto makes = std::find_if(main_.nodes.begin(), main_.nodes.end(), [&](int32_t index) {
      const std::vector<int32_t> &given = NodeAt(index).outputs;
      return std::find(given.begin(), given.end(), tensor) != given.end();
    });
    main_.nodes.insert(makes == main_.nodes.end() ? makes : makes + 1, made.AddNode(std::move(copy)));
    return result;
  }

  // ---- inputs that nodes update ----

  Status ReadOperands(int32_t index) {
    const std::vector<int32_t> inputs = NodeAt(index).inputs;
    const OptimizerOperands *optimizer = FindOptimizer(NodeAt(index).op);
    if (inputs.size() <= static_cast<size_t>(optimizer == nullptr ? 1 : optimizer->gradient)) {
      return Error(NodeAt(index), "has too few inputs");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool changes = i == 0 || (optimizer != nullptr &&
                                      std::find(optimizer->states, optimizer->states + optimizer->state_count,
                                                static_cast<int32_t>(i)) != optimizer->states + optimizer->state_count);
      const bool is_setting = optimizer != nullptr && static_cast<int32_t>(i) != optimizer->gradient &&
                              TensorAt(inputs[i]).is_constant && TensorAt(inputs[i]).type == MSLITE_FLOAT32;
      if (changes || is_setting) MSLITE_TRY(Read(index, inputs[i]));
    }
    return mindspore::kSuccess;
  }

  // Makes a constant a variable of its name, which all its readers read.
  Status Read(int32_t index, int32_t tensor) {
    if (variables_.count(tensor) != 0) return mindspore::kSuccess;
    const Tensor &constant = TensorAt(tensor);
    if (!constant.is_constant || constant.type != MSLITE_FLOAT32 || constant.name.empty()) {
      return Error(NodeAt(index), "changes '" + constant.name + "', which is not a float32 constant");
    }
    if (names_.count(constant.name) != 0) {
      return Error(NodeAt(index), "changes '" + constant.name + "', but another constant has that name, too");
    }
    const auto has_name = [&](const Tensor &other) { return other.is_constant && other.name == constant.name; };
    const auto end = graph_.tensors.begin() + static_cast<std::ptrdiff_t>(file_tensors_);
    if (std::count_if(graph_.tensors.begin(), end, has_name) > 1) {
      return Error(NodeAt(index), "changes '" + constant.name + "', but another constant has that name, too");
    }
    MakeVariable(tensor);
    return mindspore::kSuccess;
  }

  // Makes the base learning rate of schedules a variable, so that it can be set. It is not an input of an optimizer.
  void ReadScheduledRate() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const Tensor &tensor = graph_.tensors[i];
      if (tensor.name != kLearningRateName || names_.count(kLearningRateName) != 0) continue;
      if (tensor.is_constant && tensor.type == MSLITE_FLOAT32 && tensor.size == sizeof(float))
        MakeVariable(static_cast<int32_t>(i));
      return;
    }
  }

  void MakeVariable(int32_t tensor) {
    names_.insert(TensorAt(tensor).name);
    const int32_t value = NewNodes(&graph_).AddLike(tensor, TensorAt(tensor).type, "/read");
    for (Node &node : graph_.nodes) std::replace(node.inputs.begin(), node.inputs.end(), tensor, value);
    Node read;
    read.name = TensorAt(value).name;
    read.op = MSLITE_OP_ReadVariable;
    auto *params = graph_.arena.Make<mslite_ReadVariable>();
    params->variable = Text(TensorAt(tensor).name);
    read.params = params;
    read.inputs = {tensor};
    read.outputs = {value};
    reads_.push_back(NewNodes(&graph_).AddNode(std::move(read)));
    variables_[value] = TensorAt(tensor).name;
    constants_[TensorAt(tensor).name] = tensor;
  }

  const char *Text(const std::string &text) {
    char *copy = graph_.arena.MakeArray<char>(text.size() + 1);
    std::memcpy(copy, text.c_str(), text.size());
    return copy;
  }

  void Assign(const std::string &variable, int32_t value, int32_t after) {
    Node assign;
    assign.name = variable + "/assign";
    assign.op = MSLITE_OP_AssignVariable;
    auto *params = graph_.arena.Make<mslite_AssignVariable>();
    params->variable = Text(variable);
    assign.params = params;
    assign.inputs = {value};
    assign.outputs = {NewNodes(&graph_).AddLike(value, TensorAt(value).type, "/assigned")};
    assignments_[after].push_back(NewNodes(&graph_).AddNode(std::move(assign)));
  }

  // Returns the gradient before the nodes that the converter adds to an optimizer's step. In MindSpore's files there
  // are none, and the result is the tensor itself.
  int32_t OwnGradient(int32_t tensor) const {
    std::vector<int32_t> open = {tensor};
    std::set<int32_t> seen = {tensor}, before;
    while (!open.empty()) {
      const int32_t made = open.back();
      open.pop_back();
      for (const int32_t index : main_.nodes) {
        const Node &node = graph_.nodes[static_cast<size_t>(index)];
        if (std::find(node.outputs.begin(), node.outputs.end(), made) == node.outputs.end()) continue;
        if (node.name.find("/preconditioned/") == std::string::npos) {
          if (node.name.find("optimizer-") == std::string::npos) before.insert(made);
          continue;
        }
        for (const int32_t input : node.inputs) {
          if (seen.insert(input).second) open.push_back(input);
        }
      }
    }
    return before.size() == 1 ? *before.begin() : tensor;
  }

  // Makes the states of an optimizer variables, which it outputs.
  Status ConvertOptimizer(int32_t index) {
    const OptimizerOperands &operands = *FindOptimizer(NodeAt(index).op);
    const std::vector<int32_t> inputs = NodeAt(index).inputs;
    const auto name_of = [&](int32_t place) {
      const auto variable = place < 0 ? variables_.end() : variables_.find(inputs[static_cast<size_t>(place)]);
      return variable == variables_.end() ? std::string() : variable->second;
    };
    TrainedWeight trained;
    trained.node = NodeAt(index).name;
    trained.weight = name_of(0);
    const Tensor &weight = TensorAt(constants_[trained.weight]);
    trained.shape = ShapeInFile(weight);
    for (size_t i = 1; i < inputs.size(); ++i) {
      const auto variable = variables_.find(inputs[i]);
      if (variable == variables_.end()) continue;
      const bool is_state = std::find(operands.states, operands.states + operands.state_count,
                                      static_cast<int32_t>(i)) != operands.states + operands.state_count;
      const bool is_number = !is_state || (NodeAt(index).op == MSLITE_OP_SGD && i == kSgdStat);
      const Tensor &operand = TensorAt(constants_[variable->second]);
      if (static_cast<int32_t>(i) == operands.gradient || operand.size == (is_number ? sizeof(float) : weight.size)) {
        continue;
      }
      return Error(NodeAt(index), Format("its input %zu '%.300s' has %zu bytes, but weight '%.300s' needs %zu", i,
                                         operand.name.c_str(), operand.size, trained.weight.c_str(),
                                         is_number ? sizeof(float) : weight.size));
    }
    trained.gradient = OwnGradient(inputs[static_cast<size_t>(operands.gradient)]);
    trained.learning_rate = name_of(operands.learning_rate);
    if (trained.learning_rate.empty() && names_.count(kLearningRateName) != 0)
      trained.learning_rate = kLearningRateName;
    trained.momentum = name_of(operands.momentum);
    std::vector<int32_t> results;
    std::set<int32_t> changing = {0, operands.gradient};
    const auto add = [&](int32_t place) {
      const int32_t result = NewNodes(&graph_).AddLike(inputs[static_cast<size_t>(place)], MSLITE_FLOAT32, "/next");
      results.push_back(result);
      changing.insert(place);
      Assign(name_of(place), result, index);
    };
    add(0);
    for (int32_t i = 0; i < operands.state_count; ++i) {
      trained.states.push_back(name_of(operands.states[i]));
      add(operands.states[i]);
    }
    for (size_t i = 1; i < inputs.size(); ++i) {
      const std::string name = name_of(static_cast<int32_t>(i));
      if (!name.empty() && changing.count(static_cast<int32_t>(i)) == 0) trained.settings.push_back(name);
    }
    if (std::any_of(training_.weights.begin(), training_.weights.end(),
                    [&](const TrainedWeight &other) { return other.weight == trained.weight; })) {
      return Error(NodeAt(index), "changes '" + trained.weight + "', but another optimizer does, too");
    }
    NodeAt(index).outputs = std::move(results);
    training_.weights.push_back(std::move(trained));
    return mindspore::kSuccess;
  }

  void ConvertAssignment(int32_t index) {
    const std::string variable = variables_[NodeAt(index).inputs[0]];
    if (NodeAt(index).op == MSLITE_OP_Assign) {
      Assign(variable, NodeAt(index).inputs[1], index);
      return;
    }
    const int32_t sum = NewNodes(&graph_).AddLike(NodeAt(index).inputs[0], MSLITE_FLOAT32, "/next");
    NodeAt(index).op = MSLITE_OP_AddFusion;
    NodeAt(index).params = graph_.arena.Make<mslite_AddFusion>();
    NodeAt(index).primitive = nullptr;
    NodeAt(index).outputs = {sum};
    Assign(variable, sum, index);
  }

  // ---- layers that differ in training ----

  bool IsRead(int32_t tensor) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [tensor](const Node &node) {
      return std::find(node.inputs.begin(), node.inputs.end(), tensor) != node.inputs.end();
    });
  }

  bool IsBatchStatistic(int32_t tensor) const {
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [tensor](const Node &node) {
      return node.op == MSLITE_OP_BatchNormTraining && node.outputs.size() > 3 && node.outputs[3] == tensor;
    });
  }

  void AssignState(int32_t operand, int32_t value, int32_t index) {
    Assign(variables_[operand], value, index);
    training_.layer_states.push_back(assignments_[index].back());
  }

  // Converts a batch normalization whose gradient reads the statistics of the batch, which are results 3 and 4.
  Status ConvertBatchNorm(int32_t index) {
    const Node &given = NodeAt(index);
    if (given.inputs.size() != 5 || given.outputs.size() != 5 || given.params == nullptr) return mindspore::kSuccess;
    // Recomputed in the backward pass: it must not update the running statistics.
    if (IsBatchStatistic(given.inputs[3])) {
      RepeatBatchNorm(index, &graph_);
      return mindspore::kSuccess;
    }
    if (!IsRead(given.outputs[3])) return mindspore::kSuccess;
    const std::vector<int32_t> running = {given.inputs[3], given.inputs[4]};
    for (const int32_t tensor : running) MSLITE_TRY(Read(index, tensor));
    const std::vector<int32_t> variables = {NodeAt(index).inputs[3], NodeAt(index).inputs[4]};
    TrainBatchNorm(index, &latest_statistics_, &graph_);
    for (size_t i = 0; i < 2; ++i) AssignState(variables[i], NodeAt(index).outputs[i + 1], index);
    return mindspore::kSuccess;
  }

  // Converts a Dropout that has a seed, or whose mask (result 1) is read by the gradient. MindSpore's files have no
  // seeds: each of their layers gets its own.
  Status ConvertDropout(int32_t index) {
    const bool has_seed = NodeAt(index).inputs.size() > 1;
    if (NodeAt(index).outputs.size() != 2) return mindspore::kSuccess;
    if (!has_seed && !IsRead(NodeAt(index).outputs[1])) return mindspore::kSuccess;
    if (!has_seed) {
      auto *first = reinterpret_cast<int32_t *>(graph_.arena.MakeArray<int32_t>(kSeedSize));
      first[0] = index;
      Tensor made;
      made.name = NodeAt(index).name + "/seed";
      made.type = MSLITE_INT32;
      made.has_rank = made.is_constant = true;
      made.dims = {kSeedSize};
      made.data = reinterpret_cast<const uint8_t *>(first);
      made.size = kSeedSize * sizeof(int32_t);
      NodeAt(index).inputs.push_back(NewNodes(&graph_).Add(std::move(made)));
    }
    // Recomputed in the backward pass: it drops the same elements.
    if (variables_.count(NodeAt(index).inputs[1]) != 0) {
      NodeAt(index).outputs.push_back(NewNodes(&graph_).AddLike(NodeAt(index).inputs[1], MSLITE_INT32, "/next"));
      return mindspore::kSuccess;
    }
    const Tensor &seed = TensorAt(NodeAt(index).inputs[1]);
    if (!seed.is_constant || seed.type != MSLITE_INT32 || seed.size != kSeedSize * sizeof(int32_t) ||
        names_.count(seed.name) != 0) {
      return Error(NodeAt(index), "its seed '" + seed.name + "' must be an int32 constant [2] that no other node uses");
    }
    MakeVariable(NodeAt(index).inputs[1]);
    const int32_t next = NewNodes(&graph_).AddLike(NodeAt(index).inputs[1], MSLITE_INT32, "/next");
    NodeAt(index).outputs.push_back(next);
    AssignState(NodeAt(index).inputs[1], next, index);
    return mindspore::kSuccess;
  }

  // Converts the sizes of gradients to channels last, as the kernels need them.
  void SettleShapes(int32_t index) {
    Node &node = NodeAt(index);
    if (node.op == MSLITE_OP_FlattenGrad) {
      node.op = MSLITE_OP_Reshape;
      node.params = graph_.arena.Make<mslite_Reshape>();
      node.primitive = nullptr;
    }
    const bool is_sized = node.op == MSLITE_OP_Conv2DBackpropInputFusion ||
                          node.op == MSLITE_OP_Conv2DBackpropFilterFusion || node.op == MSLITE_OP_DeConv2DGradFilter;
    if (!is_sized || node.inputs.size() < 3) return;
    const Tensor sizes = TensorAt(node.inputs[2]);
    const bool is_channels_first = sizes.format == MSLITE_FORMAT_NCHW || sizes.format == MSLITE_FORMAT_KCHW;
    if (!is_channels_first || sizes.type != MSLITE_INT32 || sizes.size != 4 * sizeof(int32_t)) return;
    auto *turned = reinterpret_cast<int32_t *>(graph_.arena.MakeArray<int32_t>(4));
    int32_t old[4];
    std::memcpy(old, sizes.data, sizeof old);
    const int32_t from[4] = {0, 2, 3, 1};
    for (int32_t i = 0; i < 4; ++i) turned[i] = old[from[i]];
    Tensor made = sizes;
    made.name += "/nhwc";
    made.data = reinterpret_cast<const uint8_t *>(turned);
    made.format = MSLITE_FORMAT_NHWC;
    const int32_t place = NewNodes(&graph_).Add(std::move(made));
    NodeAt(index).inputs[2] = place;
  }

  // ---- order ----

  // Orders the nodes that are needed. Each optimizer, with its assignments, comes after the last reader of the tensors
  // that it updates.
  void Order() {
    std::vector<int32_t> order = reads_;
    for (const int32_t index : main_.nodes) {
      if (FindOptimizer(NodeAt(index).op) == nullptr) order.push_back(index);
    }
    order = LiveNodes(order);
    std::map<int32_t, size_t> last;  // tensor -> index of the last node that computes or reads it
    for (size_t i = 0; i < order.size(); ++i) {
      for (const int32_t input : NodeAt(order[i]).inputs) last[input] = i;
      for (const int32_t output : NodeAt(order[i]).outputs) last[output] = i;
    }
    std::vector<std::vector<int32_t>> behind(order.size() + 1);
    for (const int32_t index : main_.nodes) {
      if (FindOptimizer(NodeAt(index).op) == nullptr) continue;
      size_t place = 0;
      for (const int32_t input : NodeAt(index).inputs) {
        const auto found = last.find(input);
        const bool is_setting = found != last.end() && variables_.count(input) != 0 && IsSetting(index, input);
        if (found != last.end() && !is_setting) place = std::max(place, found->second + 1);
      }
      behind[place].push_back(index);
    }
    std::vector<int32_t> nodes;
    const auto append = [&](int32_t index) {
      nodes.push_back(index);
      const auto found = assignments_.find(index);
      if (found != assignments_.end()) nodes.insert(nodes.end(), found->second.begin(), found->second.end());
    };
    for (size_t i = 0; i <= order.size(); ++i) {
      for (const int32_t index : behind[i]) append(index);
      if (i < order.size()) append(order[i]);
    }
    // The AssignVariable node does the work of Assign.
    nodes.erase(
        std::remove_if(nodes.begin(), nodes.end(), [&](int32_t index) { return NodeAt(index).op == MSLITE_OP_Assign; }),
        nodes.end());
    main_.nodes = std::move(nodes);
  }

  // Returns whether an optimizer reads this input without updating it.
  bool IsSetting(int32_t index, int32_t input) {
    const OptimizerOperands &operands = *FindOptimizer(NodeAt(index).op);
    const Node &node = NodeAt(index);
    if (node.inputs[0] == input) return false;
    return std::none_of(operands.states, operands.states + operands.state_count,
                        [&](int32_t place) { return node.inputs[static_cast<size_t>(place)] == input; });
  }

  std::vector<int32_t> LiveNodes(const std::vector<int32_t> &nodes) {
    std::set<int32_t> used(main_.outputs.begin(), main_.outputs.end());
    for (const int32_t index : main_.nodes) {
      if (!Changes(NodeAt(index)) && assignments_.count(index) == 0) continue;
      used.insert(NodeAt(index).inputs.begin(), NodeAt(index).inputs.end());
    }
    std::vector<int32_t> live;
    for (auto index = nodes.rbegin(); index != nodes.rend(); ++index) {
      const Node &node = NodeAt(*index);
      const bool is_needed =
          assignments_.count(*index) != 0 || std::any_of(node.outputs.begin(), node.outputs.end(),
                                                         [&](int32_t output) { return used.count(output) != 0; });
      if (!is_needed) continue;
      live.push_back(*index);
      used.insert(node.inputs.begin(), node.inputs.end());
    }
    std::reverse(live.begin(), live.end());
    return live;
  }

  const std::vector<std::string> &loss_names_;
  bool with_predictions_;
  TrainingGraph &training_;
  Graph &graph_;
  size_t file_tensors_;  // the first ones are the file's; loading has added the others
  SubGraph &main_;
  std::map<std::string, int32_t> constants_;      // variable -> its initial value
  std::map<int32_t, std::string> variables_;      // result of a ReadVariable -> its variable
  std::map<int32_t, int32_t> latest_statistics_;  // result of a ReadVariable -> its newest value
  std::set<std::string> names_;
  std::vector<int32_t> reads_;                           // nodes
  std::map<int32_t, std::vector<int32_t>> assignments_;  // node -> the assignments after it
};

// Keeps the nodes that are needed to compute `outputs` and the inputs of kept assignments. `given` tensors are inputs.
void KeepNeeded(const std::vector<int32_t> &outputs, const std::vector<int32_t> &given,
                const std::function<bool(int32_t)> &is_kept, Graph *graph) {
  SubGraph &main = graph->subgraphs[0];
  std::set<int32_t> used(outputs.begin(), outputs.end());
  const std::set<int32_t> known(given.begin(), given.end());
  std::vector<int32_t> kept;
  for (auto index = main.nodes.rbegin(); index != main.nodes.rend(); ++index) {
    const Node &node = graph->nodes[static_cast<size_t>(*index)];
    const bool is_read = std::any_of(node.outputs.begin(), node.outputs.end(), [&](int32_t output) {
      return used.count(output) != 0 && known.count(output) == 0;
    });
    if (!is_read && !(node.op == MSLITE_OP_AssignVariable && is_kept(*index))) continue;
    kept.push_back(*index);
    used.insert(node.inputs.begin(), node.inputs.end());
  }
  main.nodes.assign(kept.rbegin(), kept.rend());
}
}  // namespace

Status ReadTrainingGraph(const std::shared_ptr<const Bytes> &file, const std::vector<std::string> &loss_names,
                         bool with_predictions, TrainingGraph *training) {
  MSLITE_TRY(LoadTrainableConstants(file, &training->graph));
  return TrainingGraphBuilder(loss_names, with_predictions, training).Run();
}

TensorShape ShapeInFile(const Tensor &tensor) {
  TensorShape shape{tensor.type, -1, {}};
  if (!tensor.has_rank && tensor.dims.empty()) return shape;
  shape.rank = static_cast<int32_t>(tensor.dims.size());
  std::copy(tensor.dims.begin(), tensor.dims.end(), shape.dims);
  return shape;
}

void RemoveGradientOutputs(TrainingGraph *training) {
  Graph &graph = *training->graph;
  graph.outputs.resize(training->loss_count + training->predictions.size());
  graph.subgraphs[0].outputs = graph.outputs;
}

void KeepGradients(TrainingGraph *training) {
  const std::set<int32_t> states(training->layer_states.begin(), training->layer_states.end());
  KeepNeeded(
      training->graph->outputs, {}, [&](int32_t node) { return states.count(node) != 0; }, training->graph.get());
}

void KeepUpdates(TrainingGraph *training) {
  std::vector<int32_t> gradients;
  for (const TrainedWeight &weight : training->weights) {
    if (std::find(gradients.begin(), gradients.end(), weight.gradient) == gradients.end()) {
      gradients.push_back(weight.gradient);
    }
  }
  Graph &graph = *training->graph;
  const std::set<int32_t> states(training->layer_states.begin(), training->layer_states.end());
  KeepNeeded(
      {}, gradients, [&](int32_t node) { return states.count(node) == 0; }, &graph);
  graph.inputs = graph.subgraphs[0].inputs = std::move(gradients);
  graph.outputs.clear();
  graph.subgraphs[0].outputs.clear();
}
}  // namespace mslite
