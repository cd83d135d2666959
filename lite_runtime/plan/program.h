// The parts of a subgraph that do not depend on shapes: the order of its steps, its calls, and the uses of tensors.
#ifndef MSLITE_PLAN_PROGRAM_H
#define MSLITE_PLAN_PROGRAM_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "model/internal_api.h"
#include "plan/weights.h"

namespace mslite {
// A Call with the data of its Switch, SwitchLayer and PartialFusion nodes. A closure number >= 0 is an index in
// `branches`; a negative number is the complement (~) of an index in `choices`.
struct CallSite {
  // A PartialFusion node.
  struct Branch {
    int32_t graph = 0;
    std::vector<int32_t> arguments;  // local tensors, one per input of the graph
  };
  // A Switch or SwitchLayer node.
  struct Choice {
    int32_t selector = 0;  // local tensor: a condition (target 0 if true), or the index of a target
    bool selects_by_index = false;
    int32_t node = 0;  // in Graph::nodes
    std::vector<int32_t> targets;
  };
  int32_t closure = 0;  // the closure that is called
  std::vector<Branch> branches;
  std::vector<Choice> choices;
  std::vector<int32_t> outputs;  // local tensors
  bool is_tail = false;          // its results are the results of the graph, so nothing runs after it
};

struct ProgramStep {
  int32_t node = 0;             // in Graph::nodes
  int32_t call = -1;            // in Program::calls, or -1
  std::vector<int32_t> inputs;  // local tensors
  std::vector<int32_t> outputs;
};

// A fusion of two steps: a plan may run it in place of `last` and leave out both steps.
struct FusedStep {
  int32_t first = 0;  // in Program::steps
  int32_t last = 0;
  const Node *node = nullptr;
  ProgramStep step;  // its node is that of the first step, which identifies packed weights and problems
};

struct Program {
  const SubGraph *subgraph = nullptr;
  std::vector<int32_t> tensors;  // local -> graph
  std::vector<int32_t> inputs;   // local
  std::vector<int32_t> outputs;  // local
  std::vector<ProgramStep> steps;
  std::vector<CallSite> calls;
  std::vector<FusedStep> fused;  // ordered by `last`
  // ReadVariable and AssignVariable are not steps: a variable that is read is treated as an input, one that is assigned
  // as an output.
  struct VariableUse {
    int32_t local = 0;
    int32_t variable = 0;  // in SharedModel::variables
  };
  std::vector<VariableUse> reads;
  std::vector<VariableUse> writes;
  // Per local tensor: the last step that reads it; the number of steps for outputs; -1 if none.
  std::vector<int32_t> last_use;
  std::vector<int32_t> producer;  // per local tensor: the step that writes it, kInput, or kConstant

  static constexpr int32_t kNever = -1;
  static constexpr int32_t kInput = -1;
  static constexpr int32_t kConstant = INT32_MAX;
};

// A tensor that keeps its value from run to run of a session.
struct Variable {
  std::string name;
  int32_t initial = 0;  // in Graph::tensors: a constant
};

// A loaded model with all data that its sessions share.
struct SharedModel {
  std::shared_ptr<const Graph> graph;
  std::vector<Program> programs;  // one per subgraph
  std::vector<Variable> variables;
  WeightStore weights;

  // Creates the programs of a graph. Errors: kLiteGraphFileError for invalid control flow, kLiteNotSupport for
  // unsupported control flow.
  MSLITE_INTERNAL_API static Status Create(std::shared_ptr<const Graph> graph, std::shared_ptr<SharedModel> *model);
};
}  // namespace mslite

#endif
