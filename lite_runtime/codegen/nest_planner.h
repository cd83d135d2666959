// Plans a model's main graph and all graphs that it calls, for code that writes the plan down instead of running it.
#ifndef MSLITE_CODEGEN_NEST_PLANNER_H
#define MSLITE_CODEGEN_NEST_PLANNER_H

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

/// A Call whose choices that constants decide are decided. Closures are numbered as in CallSite.
struct PlannedCall {
  struct Branch {
    int32_t place = -1;  // in the region, -1: never taken
    std::vector<int32_t> arguments;
  };
  const ProgramStep *source = nullptr;
  int32_t closure = 0;
  std::vector<CallSite::Choice> choices;
  std::vector<Branch> branches;
  std::vector<int32_t> outputs;
  bool is_tail = false;  // its branches are places in the region of the call that its graph was entered by
  /// The graphs that it runs, which replace each other by tail calls until one has results.
  std::vector<std::unique_ptr<PlannedGraph>> region;
};

/// A graph planned for inputs of given shapes, of which some are constants.
struct PlannedGraph {
  int32_t graph = 0;
  Frame frame;
  std::vector<std::unique_ptr<Planner>> planners;  // one for each run of steps between calls
  std::vector<std::shared_ptr<const Plan>> plans;
  std::vector<PlannedStep> steps;
  std::vector<PlannedCall> calls;
  std::vector<int32_t> items;          // steps and calls in their order; a call is ~ its place
  std::vector<mslite_tensor> tensors;  // per local tensor: what is known of it
  bool is_broken = false;              // planning ended early, at a problem
};

/// What is known of a value that a graph is given, or gives.
struct KnownValue {
  TensorShape shape;
  const uint8_t *data = nullptr;  // nullptr: known at run time only
};

class NestPlanner {
 public:
  NestPlanner(SharedModel *model, const PlanOptions &options, Problems *problems)
      : model_(*model), options_(options), problems_(problems) {}

  /// Plans the main graph for inputs of these shapes, in the order of the model. What keeps a node from being planned
  /// becomes a problem. Errors: those of planning.
  Status Plan(const std::vector<std::vector<int64_t>> &shapes, PlannedGraph *main);

 private:
  class Region;
  static constexpr int64_t kMostWork = 200000;  // steps, those of each round that is written down counted

  Status PlanGraph(int32_t graph, const std::vector<KnownValue> &given, PlannedGraph *planned);
  Status PlanCall(PlannedGraph *caller, int32_t position, bool *is_done);
  void BindVariables(int32_t graph, Frame *frame) const;
  PlannedCall Resolve(const PlannedGraph &caller, int32_t position, std::string *problem) const;
  std::vector<KnownValue> Values(const PlannedGraph &graph, const std::vector<int32_t> &locals) const;
  void Refuse(const PlannedGraph &graph, int32_t position, const std::string &reason);

  SharedModel &model_;
  const PlanOptions &options_;
  Problems *problems_;
  std::vector<int32_t> active_;  // graphs that are being planned, each called by the one before it
  std::vector<std::unique_ptr<PlannedGraph>> retired_;  // planned again since: constants may lie in their memory
  int64_t work_ = 0;  // steps that were planned so far, those planned again counted again
};

/// The branches that a call may take.
std::vector<size_t> ReachableBranches(const PlannedCall &call);

}  // namespace mslite::codegen

#endif
