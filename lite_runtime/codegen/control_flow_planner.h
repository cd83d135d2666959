// Plans a model's main graph and all graphs that it calls, for generated code. The plan is not run.
#ifndef MSLITE_CODEGEN_CONTROL_FLOW_PLANNER_H
#define MSLITE_CODEGEN_CONTROL_FLOW_PLANNER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/planner.h"

namespace mslite::codegen {

struct PlannedGraph;

struct PlannedStep {
  const ProgramStep *source = nullptr;
  const Step *step = nullptr;
  const Planner *planner = nullptr;
};

/// A call, with choices on constants resolved. Closures are numbered as in CallSite.
struct PlannedCall {
  struct Branch {
    int32_t place = -1;  // index in the region; -1: never taken
    std::vector<int32_t> arguments;
  };
  const ProgramStep *source = nullptr;
  int32_t closure = 0;
  std::vector<CallSite::Choice> choices;
  std::vector<Branch> branches;
  std::vector<int32_t> outputs;
  bool is_tail = false;  // if so, branches are indices in the region of the call that entered its graph
  /// The graphs that it runs. They continue with each other by tail calls until one returns results.
  std::vector<std::unique_ptr<PlannedGraph>> region;
};

/// A graph that is planned for inputs of given shapes. Some inputs may be constants.
struct PlannedGraph {
  int32_t graph = 0;
  Frame frame;
  std::vector<std::unique_ptr<Planner>> planners;  // one for each sequence of steps between calls
  std::vector<std::shared_ptr<const Plan>> plans;
  std::vector<PlannedStep> steps;
  std::vector<PlannedCall> calls;
  std::vector<int32_t> items;          // steps and calls in order; a call is ~ its index
  std::vector<mslite_tensor> tensors;  // shape and contents of each local tensor, as far as known
  bool is_broken = false;              // planning stopped because of a problem
};

/// Shape, and contents if known, of an input or output of a graph.
struct KnownValue {
  TensorShape shape;
  const uint8_t *data = nullptr;  // nullptr: unknown before run time
};

class ControlFlowPlanner {
 public:
  ControlFlowPlanner(SharedModel *model, const PlanOptions &options, Problems *problems)
      : model_(*model), options_(options), problems_(problems) {}

  /// Plans the main graph for inputs of these shapes, in the order of the model. Unsupported nodes are added to
  /// `problems`. Errors: those of planning.
  Status Plan(const std::vector<std::vector<int64_t>> &shapes, PlannedGraph *main);

 private:
  class Region;
  static constexpr int64_t kMaxWork = 200000;  // steps, with those of all unrolled iterations

  Status PlanGraph(int32_t graph, const std::vector<KnownValue> &given, PlannedGraph *planned);
  Status PlanCall(PlannedGraph *caller, int32_t position, bool *is_done);
  void BindVariables(int32_t graph, Frame *frame) const;
  PlannedCall Resolve(const PlannedGraph &caller, int32_t position, std::string *problem) const;
  std::vector<KnownValue> Values(const PlannedGraph &graph, const std::vector<int32_t> &locals) const;
  void Refuse(const PlannedGraph &graph, int32_t position, const std::string &reason);

  SharedModel &model_;
  const PlanOptions &options_;
  Problems *problems_;
  std::vector<int32_t> active_;  // graphs that are being planned, each called by the previous one
  std::vector<std::unique_ptr<PlannedGraph>> retired_;  // replaced plans; constants may be in their memory
  int64_t work_ = 0;                                    // number of steps planned so far, with repetitions
};

/// Returns the branches that a call may take.
std::vector<size_t> ReachableBranches(const PlannedCall &call);

}  // namespace mslite::codegen

#endif
