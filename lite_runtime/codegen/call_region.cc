#include "codegen/call_region.h"

#include <algorithm>
#include <cstring>

namespace mslite::codegen {
namespace {

constexpr size_t kMaxUnrolledIterations = 4096;  // largest number of unrolled iterations

std::string ShapeText(const TensorShape &shape) {
  std::string text = "[";
  for (int32_t i = 0; i < shape.rank; ++i) {
    text += Format(i == 0 ? "%lld" : ", %lld", static_cast<long long>(shape.dims[i]));
  }
  return text + "]";
}

// Whether both contents are known and equal.
bool HaveSameContents(const KnownValue &one, const KnownValue &other) {
  if (one.data == nullptr || other.data == nullptr) return false;
  const int64_t bytes = ByteSize(one.shape);
  return one.data == other.data || (bytes >= 0 && std::memcmp(one.data, other.data, static_cast<size_t>(bytes)) == 0);
}

}  // namespace

Status ControlFlowPlanner::Region::Plan(std::vector<KnownValue> *results, std::string *problem) {
  MSLITE_TRY(PlanMerged(problem));
  if (differs_ && planner_.problems_->empty()) {
    std::string open;
    MSLITE_TRY(PlanRounds(&open));
    if (open.empty()) {
      problem->clear();
    } else {
      *problem += ", and " + open;
    }
  }
  *results = results_;
  return mindspore::kSuccess;
}

// Plans each graph once for all its calls. A graph is planned again if another call gives it other contents; these
// become unknown, so this ends.
Status ControlFlowPlanner::Region::PlanMerged(std::string *problem) {
  EnterAll(caller_, &call_, true, problem);
  while (problem->empty()) {
    const auto open = std::find(is_planned_.begin(), is_planned_.end(), 0);
    if (open == is_planned_.end()) break;
    MSLITE_TRY(Replan(static_cast<size_t>(open - is_planned_.begin()), problem));
    if (!planner_.problems_->empty()) return mindspore::kSuccess;
  }
  for (const std::unique_ptr<PlannedGraph> &graph : call_.region) {
    const bool goes_on = !graph->calls.empty() && graph->calls.back().is_tail;
    if (problem->empty() && !goes_on) AddResults(*graph, problem);
  }
  if (problem->empty() && !has_results_) *problem = "it never ends";
  return mindspore::kSuccess;
}

Status ControlFlowPlanner::Region::Replan(size_t place, std::string *problem) {
  is_planned_[place] = 1;
  PlannedGraph &graph = *call_.region[place];
  const std::vector<KnownValue> given = given_[place];
  // Inputs of other graphs may be in the memory of the old plan.
  auto planned = std::make_unique<PlannedGraph>();
  MSLITE_TRY(planner_.PlanGraph(graph.graph, given, planned.get()));
  if (planned->is_broken) return mindspore::kSuccess;
  planner_.retired_.push_back(std::move(call_.region[place]));
  call_.region[place] = std::move(planned);
  PlannedGraph &fresh = *call_.region[place];
  if (!fresh.calls.empty() && fresh.calls.back().is_tail) {
    PlannedCall &tail = fresh.calls.back();
    EnterAll(fresh, &tail, true, problem);
  }
  return mindspore::kSuccess;
}

// Unrolls the loop: plans each iteration with its own graphs.
Status ControlFlowPlanner::Region::PlanRounds(std::string *problem) {
  for (std::unique_ptr<PlannedGraph> &graph : call_.region) planner_.retired_.push_back(std::move(graph));
  call_.region.clear();
  given_.clear();
  is_planned_.clear();
  results_.clear();
  has_results_ = false;
  const PlannedGraph *from = &caller_;
  PlannedCall *call = &call_;
  while (problem->empty()) {
    if (ReachableBranches(*call).size() != 1) {
      *problem = "the number of iterations is known at run time only";
    } else if (call_.region.size() >= kMaxUnrolledIterations || planner_.work_ > kMaxWork) {
      *problem = "there are too many iterations to unroll";
    } else {
      EnterAll(*from, call, false, problem);
      PlannedGraph &graph = *call_.region.back();
      MSLITE_TRY(planner_.PlanGraph(graph.graph, given_.back(), &graph));
      is_planned_.back() = 1;
      if (!planner_.problems_->empty()) return mindspore::kSuccess;
      if (graph.calls.empty() || !graph.calls.back().is_tail) {
        AddResults(graph, problem);
        return mindspore::kSuccess;
      }
      from = &graph;
      call = &graph.calls.back();
    }
  }
  return mindspore::kSuccess;
}

void ControlFlowPlanner::Region::EnterAll(const PlannedGraph &from, PlannedCall *call, bool merge,
                                          std::string *problem) {
  const Program &program = planner_.model_.programs[static_cast<size_t>(from.graph)];
  const CallSite &site = program.calls[static_cast<size_t>(call->source->call)];
  for (const size_t branch : ReachableBranches(*call)) {
    const std::vector<KnownValue> given = planner_.Values(from, site.branches[branch].arguments);
    call->branches[branch].place = Enter(site.branches[branch].graph, given, merge, problem);
    if (!problem->empty()) return;
  }
}

int32_t ControlFlowPlanner::Region::Enter(int32_t graph, const std::vector<KnownValue> &given, bool merge,
                                          std::string *problem) {
  const Program &program = planner_.model_.programs[static_cast<size_t>(graph)];
  const auto is_same = [&](const std::unique_ptr<PlannedGraph> &one) { return one->graph == graph; };
  if (std::find(planner_.active_.begin(), planner_.active_.end(), graph) != planner_.active_.end()) {
    *problem = "graph '" + program.subgraph->name + "' is recursive, so the memory that it needs is unbounded";
    return -1;
  }
  if (given.size() != program.inputs.size()) {
    *problem = "graph '" + program.subgraph->name + "' is called with the wrong number of inputs";
    return -1;
  }
  const auto known = merge ? std::find_if(call_.region.begin(), call_.region.end(), is_same) : call_.region.end();
  const auto place = static_cast<size_t>(known - call_.region.begin());
  if (known == call_.region.end()) {
    call_.region.push_back(std::make_unique<PlannedGraph>());
    call_.region.back()->graph = graph;
    given_.push_back(given);
    is_planned_.push_back(0);
    return static_cast<int32_t>(place);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    KnownValue &mine = given_[place][i];
    if (!(mine.shape == given[i].shape)) {
      const int32_t index = program.tensors[static_cast<size_t>(program.inputs[i])];
      *problem = "the shape of '" + planner_.model_.graph->tensors[static_cast<size_t>(index)].name +
                 "' changes between iterations (" + ShapeText(mine.shape) + ", then " + ShapeText(given[i].shape) + ")";
      differs_ = true;
      return -1;
    }
    if (mine.data != nullptr && !HaveSameContents(mine, given[i])) {
      mine.data = nullptr;
      is_planned_[place] = 0;
    }
  }
  return static_cast<int32_t>(place);
}

// Merges the results of the graphs that end a call. Returns false and sets `problem` if their shapes differ.
bool ControlFlowPlanner::Region::AddResults(const PlannedGraph &graph, std::string *problem) {
  const Program &program = planner_.model_.programs[static_cast<size_t>(graph.graph)];
  const std::vector<KnownValue> own = planner_.Values(graph, program.outputs);
  if (!has_results_) {
    results_ = own;
    has_results_ = true;
    return true;
  }
  if (own.size() != results_.size()) {
    *problem = "its branches have different numbers of outputs";
    return false;
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (!(results_[i].shape == own[i].shape)) {
      *problem = Format("its branches have different shapes of output %zu: ", i) + ShapeText(results_[i].shape) +
                 " and " + ShapeText(own[i].shape);
      return false;
    }
    if (!HaveSameContents(results_[i], own[i])) results_[i].data = nullptr;
  }
  return true;
}

}  // namespace mslite::codegen
