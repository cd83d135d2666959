#include "codegen/control_flow_planner.h"

#include <algorithm>
#include <cstring>

#include "codegen/call_region.h"
#include "plan/shapes.h"

namespace mslite::codegen {
namespace {

constexpr size_t kDeepest = 64;  // depth of nested calls

// Sets `target` to the closure that a choice selects. Returns false if its selector is known at run time only, or sets
// `problem`.
bool Decide(const CallSite::Choice &choice, const mslite_tensor &selector, int32_t *target, std::string *problem) {
  const int64_t size = mslite_type_size(selector.type);
  int64_t number = 0;
  const bool is_integer = selector.type == MSLITE_INT32 || selector.type == MSLITE_INT64;
  if (!is_integer && size != 1) {
    *problem = "its condition is neither a boolean nor an integer";
    return false;
  }
  if (mslite_element_count(&selector) == 0) {
    *problem = "its condition is empty";
    return false;
  }
  if (selector.data == nullptr) return false;
  if (selector.type == MSLITE_INT32) {
    int32_t narrow = 0;
    std::memcpy(&narrow, selector.data, sizeof narrow);
    number = narrow;
  } else if (is_integer) {
    std::memcpy(&number, selector.data, sizeof number);
  } else {
    number = *static_cast<const uint8_t *>(selector.data);
  }
  if (!choice.selects_by_index) number = number != 0 ? 0 : 1;
  if (number < 0 || number >= static_cast<int64_t>(choice.targets.size())) {
    *problem = Format("there is no branch %lld of %zu", static_cast<long long>(number), choice.targets.size());
    return false;
  }
  *target = choice.targets[static_cast<size_t>(number)];
  return true;
}

}  // namespace

std::vector<size_t> ReachableBranches(const PlannedCall &call) {
  std::vector<size_t> found;
  std::vector<int32_t> open = {call.closure};
  std::vector<uint8_t> seen(call.choices.size(), 0);
  while (!open.empty()) {
    const int32_t closure = open.back();
    open.pop_back();
    if (closure >= 0) {
      const auto branch = static_cast<size_t>(closure);
      if (std::find(found.begin(), found.end(), branch) == found.end()) found.push_back(branch);
    } else if (seen[static_cast<size_t>(~closure)]++ == 0) {
      const std::vector<int32_t> &targets = call.choices[static_cast<size_t>(~closure)].targets;
      open.insert(open.end(), targets.rbegin(), targets.rend());
    }
  }
  return found;
}

Status ControlFlowPlanner::Plan(const std::vector<std::vector<int64_t>> &shapes, PlannedGraph *main) {
  const Program &program = model_.programs[0];
  const std::vector<int32_t> &order = model_.graph->inputs;
  std::vector<KnownValue> given;
  for (const int32_t local : program.inputs) {
    const int32_t index = program.tensors[static_cast<size_t>(local)];
    const auto place = static_cast<size_t>(std::find(order.begin(), order.end(), index) - order.begin());
    KnownValue value;
    if (place < shapes.size()) {
      value.shape.type = model_.graph->tensors[static_cast<size_t>(index)].type;
      value.shape.rank = static_cast<int32_t>(shapes[place].size());
      std::copy(shapes[place].begin(), shapes[place].end(), value.shape.dims);
    }
    given.push_back(value);
  }
  return PlanGraph(0, given, main);
}

void ControlFlowPlanner::Refuse(const PlannedGraph &graph, int32_t position, const std::string &reason) {
  const Program &program = model_.programs[static_cast<size_t>(graph.graph)];
  problems_->emplace(program.steps[static_cast<size_t>(position)].node, reason);
}

// Sets data types and shapes of variables, which are those of their initial values.
void ControlFlowPlanner::BindVariables(int32_t graph, Frame *frame) const {
  for (const Program::VariableUse &use : model_.programs[static_cast<size_t>(graph)].reads) {
    const int32_t index = model_.variables[static_cast<size_t>(use.variable)].initial;
    const Tensor &initial = model_.graph->tensors[static_cast<size_t>(index)];
    TensorShape &shape = frame->values[static_cast<size_t>(use.local)].shape;
    shape.type = initial.type;
    shape.rank = static_cast<int32_t>(initial.dims.size());
    std::copy(initial.dims.begin(), initial.dims.end(), shape.dims);
  }
}

// Plans a graph: the calls, and the sequences of steps between calls, each with its own planner.
Status ControlFlowPlanner::PlanGraph(int32_t graph, const std::vector<KnownValue> &given, PlannedGraph *planned) {
  const Program &program = model_.programs[static_cast<size_t>(graph)];
  const auto count = static_cast<int32_t>(program.steps.size());
  *planned = PlannedGraph();
  planned->graph = graph;
  planned->frame.values.resize(program.tensors.size());
  planned->tensors.assign(program.tensors.size(), UnknownTensor());
  for (size_t i = 0; i < given.size() && i < program.inputs.size(); ++i) {
    Value &value = planned->frame.values[static_cast<size_t>(program.inputs[i])];
    value.shape = given[i].shape;
    value.data = given[i].data;
  }
  BindVariables(graph, &planned->frame);
  active_.push_back(graph);
  int32_t position = 0;
  for (bool is_done = false; !is_done && !planned->is_broken;) {
    auto planner = std::make_unique<Planner>(&model_, program, planned->frame, options_, problems_);
    bool needs_data = false;
    std::shared_ptr<const mslite::Plan> plan;
    MSLITE_TRY(planner->Make(position, &needs_data, &plan));  // contents are fixed, so no data is needed
    work_ += plan->end - position + 1;
    for (size_t i = 0; i < planner->tensors().size(); ++i) {
      const mslite_tensor &tensor = planner->tensors()[i];  // without type: inside of an earlier sequence
      if (tensor.type != 0 && tensor.rank >= 0) planned->tensors[i] = tensor;
    }
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      planned->items.push_back(static_cast<int32_t>(planned->steps.size()));
      planned->steps.push_back({&planner->source(i), &plan->steps[i], planner.get()});
    }
    for (const mslite::Plan::Result &result : plan->results) {
      Value &value = planned->frame.values[static_cast<size_t>(result.local)];
      value.shape = result.shape;
      value.data = result.constant;
    }
    position = plan->end;
    planned->planners.push_back(std::move(planner));
    planned->plans.push_back(std::move(plan));
    if (!problems_->empty()) {
      planned->is_broken = true;
    } else if (position == count) {
      is_done = true;
    } else if (program.steps[static_cast<size_t>(position)].call >= 0) {
      MSLITE_TRY(PlanCall(planned, position, &is_done));
      ++position;
    }
  }
  active_.pop_back();
  return mindspore::kSuccess;
}

std::vector<KnownValue> ControlFlowPlanner::Values(const PlannedGraph &graph,
                                                   const std::vector<int32_t> &locals) const {
  std::vector<KnownValue> values;
  for (const int32_t local : locals) {
    const mslite_tensor &tensor = graph.tensors[static_cast<size_t>(local)];
    values.push_back({ShapeOf(tensor), static_cast<const uint8_t *>(tensor.data)});
  }
  return values;
}

PlannedCall ControlFlowPlanner::Resolve(const PlannedGraph &caller, int32_t position, std::string *problem) const {
  const Program &program = model_.programs[static_cast<size_t>(caller.graph)];
  const ProgramStep &source = program.steps[static_cast<size_t>(position)];
  const CallSite &site = program.calls[static_cast<size_t>(source.call)];
  const auto decided = [&](int32_t closure) {
    while (closure < 0) {
      const CallSite::Choice &choice = site.choices[static_cast<size_t>(~closure)];
      if (!Decide(choice, caller.tensors[static_cast<size_t>(choice.selector)], &closure, problem)) break;
    }
    return closure;
  };
  PlannedCall call;
  call.source = &source;
  call.outputs = site.outputs;
  call.is_tail = site.is_tail && active_.size() > 1;
  call.closure = decided(site.closure);
  call.choices = site.choices;
  for (CallSite::Choice &choice : call.choices) {
    for (int32_t &target : choice.targets) target = decided(target);
  }
  for (const CallSite::Branch &branch : site.branches) call.branches.push_back({-1, branch.arguments});
  return call;
}

Status ControlFlowPlanner::PlanCall(PlannedGraph *caller, int32_t position, bool *is_done) {
  std::string problem;
  PlannedCall call = Resolve(*caller, position, &problem);
  if (problem.empty() && active_.size() > kDeepest) problem = Format("there are more than %zu nested calls", kDeepest);
  if (problem.empty() && work_ > kMaxWork) problem = "its graphs have too many steps, with all unrolled iterations";
  if (!problem.empty()) {
    Refuse(*caller, position, problem);
    caller->is_broken = true;
    return mindspore::kSuccess;
  }
  *is_done = call.is_tail;
  const Program &program = model_.programs[static_cast<size_t>(caller->graph)];
  const bool is_end =
      program.calls[static_cast<size_t>(call.source->call)].is_tail;  // its results are those of the graph
  if (!call.is_tail) {
    Region region(this, *caller, &call);
    std::vector<KnownValue> results;
    MSLITE_TRY(region.Plan(&results, &problem));
    if (!problems_->empty() || !problem.empty()) {
      if (problems_->empty()) Refuse(*caller, position, problem);
      caller->is_broken = true;
      return mindspore::kSuccess;
    }
    if (!is_end && results.size() != call.outputs.size()) {
      Refuse(*caller, position, "the graph that it calls has a different number of outputs");
      caller->is_broken = true;
      return mindspore::kSuccess;
    }
    for (size_t i = 0; i < results.size() && i < call.outputs.size(); ++i) {
      const auto local = static_cast<size_t>(call.outputs[i]);
      Value &value = caller->frame.values[local];
      value.shape = results[i].shape;
      value.data = results[i].data;
    }
  }
  caller->items.push_back(~static_cast<int32_t>(caller->calls.size()));
  caller->calls.push_back(std::move(call));
  return mindspore::kSuccess;
}

}  // namespace mslite::codegen
