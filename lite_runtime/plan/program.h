// What is fixed about a subgraph before any shape is known: the order of its steps, its calls, and who uses what.
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
// A Call with everything that its Switch, SwitchLayer and PartialFusion nodes say. Closures are numbered: those from 0
// on are branches, the negative ones are choices, ~closure being their place.
struct CallSite {
  // PartialFusion.
  struct Branch {
    int32_t graph = 0;
    std::vector<int32_t> arguments;  // local tensors, one per input of the graph
  };
  // Switch or SwitchLayer.
  struct Choice {
    int32_t selector = 0;  // local tensor: a condition (target 0 when true), or the number of a target
    bool selects_by_index = false;
    int32_t node = 0;  // in Graph::nodes
    std::vector<int32_t> targets;
  };
  int32_t closure = 0;  // what is called
  std::vector<Branch> branches;
  std::vector<Choice> choices;
  std::vector<int32_t> outputs;  // local tensors
  bool is_tail = false;          // the results are those of the whole graph: control does not come back
};

struct ProgramStep {
  int32_t node = 0;             // in Graph::nodes
  int32_t call = -1;            // in Program::calls, or -1
  std::vector<int32_t> inputs;  // local tensors
  std::vector<int32_t> outputs;
};

// A Fusion of the graph: a plan may run it where `last` stands, and leave out both of the steps that it stands for.
struct FusedStep {
  int32_t first = 0;  // in Program::steps
  int32_t last = 0;
  const Node *node = nullptr;
  ProgramStep step;  // its node is the first one's, which packed weights and problems go by
};

struct Program {
  const SubGraph *subgraph = nullptr;
  std::vector<int32_t> tensors;  // local -> graph
  std::vector<int32_t> inputs;   // local
  std::vector<int32_t> outputs;  // local
  std::vector<ProgramStep> steps;
  std::vector<CallSite> calls;
  std::vector<FusedStep> fused;  // the last steps in order
  // ReadVariable and AssignVariable are no steps: a variable that is read is like an input, one that is assigned like
  // an output.
  struct VariableUse {
    int32_t local = 0;
    int32_t variable = 0;  // in SharedModel::variables
  };
  std::vector<VariableUse> reads;
  std::vector<VariableUse> writes;
  std::vector<int32_t> last_use;  // per local tensor: the last step that reads it, the number of steps for outputs, -1

  std::vector<int32_t> producer;  // per local tensor: the step that writes it, kInput, or kConstant

  static constexpr int32_t kNever = -1;
  static constexpr int32_t kInput = -1;
  static constexpr int32_t kConstant = INT32_MAX;
};

// A tensor that lives from one run of a session to the next.
struct Variable {
  std::string name;
  int32_t initial = 0;  // in Graph::tensors: a constant
};

// A loaded model with what all its sessions share.
struct SharedModel {
  std::shared_ptr<const Graph> graph;
  std::vector<Program> programs;  // one per subgraph
  std::vector<Variable> variables;
  WeightStore weights;

  // Errors: kLiteGraphFileError for control flow that makes no sense, kLiteNotSupport for a kind that is not built.
  MSLITE_INTERNAL_API static Status Create(std::shared_ptr<const Graph> graph, std::shared_ptr<SharedModel> *model);
};
}  // namespace mslite

#endif
