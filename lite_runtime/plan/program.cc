#include "plan/program.h"

#include <algorithm>
#include <map>

namespace mslite {
namespace {
constexpr size_t kMaximumSwitches = 256;  // nested

bool IsVariable(const Node &node) { return node.op == MSLITE_OP_ReadVariable || node.op == MSLITE_OP_AssignVariable; }

// Returns the name of the variable that a ReadVariable or AssignVariable node uses.
std::string VariableName(const Node &node) {
  const char *name = node.op == MSLITE_OP_ReadVariable
                         ? static_cast<const mslite_ReadVariable *>(node.params)->variable
                         : static_cast<const mslite_AssignVariable *>(node.params)->variable;
  return name == nullptr ? "" : name;
}

// Returns the index of that variable, or -1.
int32_t FindVariable(const Node &node, const std::vector<Variable> &variables) {
  const std::string name = VariableName(node);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

// Collects the variables that any graph reads; the first ReadVariable node of a name has the initial value.
Status CollectVariables(const Graph &graph, std::vector<Variable> *variables) {
  for (const Node &node : graph.nodes) {
    if (!IsVariable(node)) continue;
    if (node.params == nullptr || node.inputs.size() != 1 || node.outputs.size() != 1) {
      return Fail(mindspore::kLiteGraphFileError,
                  "file '" + graph.file->name() + "': " + Describe(node) + ": must have one input and one output");
    }
    if (node.op != MSLITE_OP_ReadVariable || FindVariable(node, *variables) >= 0) continue;
    if (!graph.tensors[static_cast<size_t>(node.inputs[0])].is_constant) {
      return Fail(mindspore::kLiteGraphFileError,
                  "file '" + graph.file->name() + "': " + Describe(node) + ": its initial value is not a constant");
    }
    variables->push_back({VariableName(node), node.inputs[0]});
  }
  return mindspore::kSuccess;
}

class Builder {
 public:
  Builder(const Graph &graph, size_t index, const std::vector<Variable> &variables)
      : graph_(graph), variables_(variables) {
    program_.subgraph = &graph.subgraphs[index];
    locals_.assign(graph.tensors.size(), -1);
  }

  Status Build(Program *program) {
    const SubGraph &subgraph = *program_.subgraph;
    for (const int32_t input : subgraph.inputs) program_.inputs.push_back(Local(input));
    for (const int32_t index : subgraph.nodes) MSLITE_TRY(AddNode(index));
    for (const Fusion &fusion : subgraph.fusions) AddFused(fusion);
    for (const int32_t output : subgraph.outputs) {
      if (const auto closure = closures_.find(output); closure != closures_.end()) {
        return Error(graph_.nodes[static_cast<size_t>(closure->second)],
                     "its closure is an output of the graph, which only Call may read");
      }
      program_.outputs.push_back(Local(output));
    }
    FindLastUses();
    FindProducers();
    MSLITE_TRY(CheckProducers());
    MarkTailCalls();
    *program = std::move(program_);
    return mindspore::kSuccess;
  }

 private:
  int32_t Local(int32_t tensor) {
    int32_t &local = locals_[static_cast<size_t>(tensor)];
    if (local < 0) {
      local = static_cast<int32_t>(program_.tensors.size());
      program_.tensors.push_back(tensor);
    }
    return local;
  }

  std::vector<int32_t> Locals(const std::vector<int32_t> &tensors) {
    std::vector<int32_t> result;
    result.reserve(tensors.size());
    for (const int32_t tensor : tensors) result.push_back(Local(tensor));
    return result;
  }

  Status Error(const Node &node, const std::string &reason) const {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph_.file->name() + "': " + Describe(node) + ": " + reason);
  }

  // PartialFusion and Switch nodes become no steps. They are found again by the tensor that links them to their Call.
  Status AddNode(int32_t index) {
    const Node &node = graph_.nodes[static_cast<size_t>(index)];
    switch (node.op) {
      case MSLITE_OP_PartialFusion:
      case MSLITE_OP_Switch:
      case MSLITE_OP_SwitchLayer:
        if (node.outputs.size() != 1) return Error(node, "must have one output");
        closures_[node.outputs[0]] = index;
        return mindspore::kSuccess;
      case MSLITE_OP_Call:
        return AddCall(index, node);
      default:
        break;
    }
    for (const int32_t input : node.inputs) {
      if (closures_.count(input) != 0) return Error(node, "reads a closure, which only Call may");
    }
    if (IsVariable(node)) return AddVariable(node);
    program_.steps.push_back({index, -1, Locals(node.inputs), Locals(node.outputs)});
    return mindspore::kSuccess;
  }

  void AddFused(const Fusion &fusion) {
    const auto place_of = [this](int32_t node) {
      const auto place = std::find_if(program_.steps.begin(), program_.steps.end(),
                                      [node](const ProgramStep &step) { return step.node == node; });
      return static_cast<int32_t>(place - program_.steps.begin());
    };
    ProgramStep step{fusion.first, -1, Locals(fusion.call.inputs), Locals(fusion.call.outputs)};
    program_.fused.push_back({place_of(fusion.first), place_of(fusion.last), &fusion.call, std::move(step)});
  }

  // The output of AssignVariable is its input under another name. A variable that no node reads is not kept.
  Status AddVariable(const Node &node) {
    const int32_t variable = FindVariable(node, variables_);
    if (node.op == MSLITE_OP_ReadVariable) {
      program_.reads.push_back({Local(node.outputs[0]), variable});
      return mindspore::kSuccess;
    }
    const int32_t value = Local(node.inputs[0]);
    int32_t &output = locals_[static_cast<size_t>(node.outputs[0])];
    if (output >= 0) return Error(node, "its output is read before it is written");
    output = value;
    if (variable >= 0) program_.writes.push_back({value, variable});
    return mindspore::kSuccess;
  }

  // Adds the closure in `tensor`, and all that it may choose, to the call site. Sets `number` to its number there.
  Status AddClosure(const Node &user, int32_t tensor, size_t depth, CallSite *site, int32_t *number) {
    if (const auto known = numbers_.find(tensor); known != numbers_.end()) {
      *number = known->second;
      return mindspore::kSuccess;
    }
    if (depth > kMaximumSwitches) return Error(user, "switches are nested too deeply");
    const auto place = closures_.find(tensor);
    if (place == closures_.end()) return Error(user, "its closure does not come from a node of the same graph");
    const int32_t index = place->second;
    const Node &closure = graph_.nodes[static_cast<size_t>(index)];
    if (closure.op == MSLITE_OP_PartialFusion) {
      for (const int32_t argument : closure.inputs) {
        if (closures_.count(argument) != 0) {
          return Fail(mindspore::kLiteNotSupport, Describe(closure) + ": closures as arguments are not supported");
        }
      }
      const int64_t target = static_cast<const mslite_PartialFusion *>(closure.params)->sub_graph_index;
      *number = static_cast<int32_t>(site->branches.size());
      site->branches.push_back({static_cast<int32_t>(target), Locals(closure.inputs)});
    } else {
      const bool is_switch = closure.op == MSLITE_OP_Switch;
      if (closure.inputs.size() < 2 || (is_switch && closure.inputs.size() != 3)) {
        return Error(closure, "has a wrong number of branches");
      }
      if (closures_.count(closure.inputs[0]) != 0) return Error(closure, "reads a closure, which only Call may");
      CallSite::Choice choice = {Local(closure.inputs[0]), !is_switch, index, {}};
      for (size_t i = 1; i < closure.inputs.size(); ++i) {
        int32_t target = 0;
        MSLITE_TRY(AddClosure(closure, closure.inputs[i], depth + 1, site, &target));
        choice.targets.push_back(target);
      }
      *number = ~static_cast<int32_t>(site->choices.size());
      site->choices.push_back(std::move(choice));
    }
    numbers_[tensor] = *number;
    return mindspore::kSuccess;
  }

  Status AddCall(int32_t index, const Node &node) {
    if (node.inputs.empty()) return Error(node, "has no closure");
    CallSite site;
    numbers_.clear();
    MSLITE_TRY(AddClosure(node, node.inputs[0], 0, &site, &site.closure));
    site.outputs = Locals(node.outputs);
    ProgramStep step{index, static_cast<int32_t>(program_.calls.size()), {}, site.outputs};
    for (const CallSite::Choice &choice : site.choices) step.inputs.push_back(choice.selector);
    for (const CallSite::Branch &branch : site.branches) {
      step.inputs.insert(step.inputs.end(), branch.arguments.begin(), branch.arguments.end());
    }
    program_.steps.push_back(std::move(step));
    program_.calls.push_back(std::move(site));
    return mindspore::kSuccess;
  }

  void FindLastUses() {
    program_.last_use.assign(program_.tensors.size(), Program::kNever);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (const int32_t input : program_.steps[i].inputs) {
        program_.last_use[static_cast<size_t>(input)] = static_cast<int32_t>(i);
      }
    }
    for (const int32_t output : program_.outputs) {
      program_.last_use[static_cast<size_t>(output)] = static_cast<int32_t>(program_.steps.size());
    }
    for (const Program::VariableUse &use : program_.writes) {
      program_.last_use[static_cast<size_t>(use.local)] = static_cast<int32_t>(program_.steps.size());
    }
  }

  void FindProducers() {
    program_.producer.assign(program_.tensors.size(), Program::kConstant);
    for (const int32_t input : program_.inputs) program_.producer[static_cast<size_t>(input)] = Program::kInput;
    for (const Program::VariableUse &use : program_.reads) {
      program_.producer[static_cast<size_t>(use.local)] = Program::kInput;
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (const int32_t output : program_.steps[i].outputs) {
        program_.producer[static_cast<size_t>(output)] = static_cast<int32_t>(i);
      }
    }
  }

  // Checks the graph after rewriting; the file's own graph was checked when it was loaded.
  Status CheckProducers() const {
    const auto is_there = [this](int32_t local) {
      return program_.producer[static_cast<size_t>(local)] != Program::kConstant ||
             graph_.tensors[static_cast<size_t>(program_.tensors[static_cast<size_t>(local)])].is_constant;
    };
    for (const ProgramStep &step : program_.steps) {
      if (std::all_of(step.inputs.begin(), step.inputs.end(), is_there)) continue;
      return Error(graph_.nodes[static_cast<size_t>(step.node)], "no node computes one of its inputs");
    }
    if (std::all_of(program_.outputs.begin(), program_.outputs.end(), is_there)) return mindspore::kSuccess;
    return Fail(mindspore::kLiteGraphFileError, "file '" + graph_.file->name() + "': graph '" +
                                                    program_.subgraph->name + "': no node computes one of its outputs");
  }

  // Decides by the graph, not by the file's flag: a call is a tail call if nothing remains to be done after it.
  void MarkTailCalls() {
    if (program_.steps.empty() || program_.steps.back().call < 0) return;
    CallSite &site = program_.calls[static_cast<size_t>(program_.steps.back().call)];
    const bool gives_results = !site.outputs.empty() && site.outputs == program_.outputs;
    const bool flagged =
        static_cast<const mslite_Call *>(graph_.nodes[static_cast<size_t>(program_.steps.back().node)].params)
            ->is_tail_call;
    const bool unused = std::none_of(site.outputs.begin(), site.outputs.end(), [this](int32_t output) {
      return program_.last_use[static_cast<size_t>(output)] >= 0;
    });
    const bool kept = std::any_of(program_.writes.begin(), program_.writes.end(), [&](const Program::VariableUse &use) {
      return std::find(site.outputs.begin(), site.outputs.end(), use.local) != site.outputs.end();
    });
    site.is_tail = (gives_results || (flagged && unused)) && !kept;
  }

  const Graph &graph_;
  const std::vector<Variable> &variables_;
  Program program_;
  std::vector<int32_t> locals_;
  std::map<int32_t, int32_t> closures_;  // tensor -> the node that computes it
  std::map<int32_t, int32_t> numbers_;   // tensor -> its number in the site being added
};
}  // namespace

Status SharedModel::Create(std::shared_ptr<const Graph> graph, std::shared_ptr<SharedModel> *model) {
  auto result = std::make_shared<SharedModel>();
  result->graph = std::move(graph);
  MSLITE_TRY(CollectVariables(*result->graph, &result->variables));
  result->programs.resize(result->graph->subgraphs.size());
  for (size_t i = 0; i < result->programs.size(); ++i) {
    MSLITE_TRY(Builder(*result->graph, i, result->variables).Build(&result->programs[i]));
  }
  *model = std::move(result);
  return mindspore::kSuccess;
}
}  // namespace mslite
