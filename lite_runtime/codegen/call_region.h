// The graphs that a call runs: they replace each other by tail calls, and loops are tail calls that come back.
#ifndef MSLITE_CODEGEN_CALL_REGION_H
#define MSLITE_CODEGEN_CALL_REGION_H

#include <string>
#include <vector>

#include "codegen/nest_planner.h"

namespace mslite::codegen {

class NestPlanner::Region {
 public:
  Region(NestPlanner *planner, const PlannedGraph &caller, PlannedCall *call)
      : planner_(*planner), caller_(caller), call_(*call) {}

  /// Plans every graph of the region once, for what all of its calls have in common: equal shapes are needed, equal
  /// contents stay constants. Where shapes differ from round to round, and which graphs run is known, each round is
  /// planned on its own. `results`: of the call. `problem`: why it cannot be.
  Status Plan(std::vector<KnownValue> *results, std::string *problem);

 private:
  Status PlanMerged(std::string *problem);
  Status PlanRounds(std::string *problem);
  Status Replan(size_t place, std::string *problem);
  int32_t Enter(int32_t graph, const std::vector<KnownValue> &given, bool merge, std::string *problem);
  void EnterAll(const PlannedGraph &from, PlannedCall *call, bool merge, std::string *problem);
  bool AddResults(const PlannedGraph &graph, std::string *problem);

  NestPlanner &planner_;
  const PlannedGraph &caller_;
  PlannedCall &call_;
  std::vector<std::vector<KnownValue>> given_;  // of each graph
  std::vector<uint8_t> is_planned_;             // with what it is given now
  std::vector<KnownValue> results_;
  bool has_results_ = false;
  bool differs_ = false;  // shapes do, from one call of a graph to another
};

}  // namespace mslite::codegen

#endif
