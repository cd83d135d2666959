// Plans the graphs that a call runs. They continue with each other by tail calls; loops are cycles of tail calls.
#ifndef MSLITE_CODEGEN_CALL_REGION_H
#define MSLITE_CODEGEN_CALL_REGION_H

#include <string>
#include <vector>

#include "codegen/control_flow_planner.h"

namespace mslite::codegen {

class ControlFlowPlanner::Region {
 public:
  Region(ControlFlowPlanner *planner, const PlannedGraph &caller, PlannedCall *call)
      : planner_(*planner), caller_(caller), call_(*call) {}

  /// Plans each graph of the region once for all its calls: shapes must be equal; contents stay constant if they are
  /// equal. If shapes change between iterations and the graphs that run are known, the loop is unrolled. `results`:
  /// those of the call. `problem`: why planning is not possible, or empty.
  Status Plan(std::vector<KnownValue> *results, std::string *problem);

 private:
  Status PlanMerged(std::string *problem);
  Status PlanRounds(std::string *problem);
  Status Replan(size_t place, std::string *problem);
  int32_t Enter(int32_t graph, const std::vector<KnownValue> &given, bool merge, std::string *problem);
  void EnterAll(const PlannedGraph &from, PlannedCall *call, bool merge, std::string *problem);
  bool AddResults(const PlannedGraph &graph, std::string *problem);

  ControlFlowPlanner &planner_;
  const PlannedGraph &caller_;
  PlannedCall &call_;
  std::vector<std::vector<KnownValue>> given_;  // inputs of each graph
  std::vector<uint8_t> is_planned_;             // whether it is planned for its current inputs
  std::vector<KnownValue> results_;
  bool has_results_ = false;
  bool differs_ = false;  // whether calls of a graph have different shapes
};

}  // namespace mslite::codegen

#endif
